/** Lists the subscriptions of a session. They are rows of the world, so its host is asked. */
import { Ajv } from 'ajv';
import { limits } from '#domain/limits.ts';
import { SubscriptionList } from '#wire/public-api/sessions/delivery.ts';
import { askHost, unreadable } from '../calls/ask-host.ts';
import type { SessionParts } from '../parts.ts';

export type SubscriptionsAsked = {
  projectId: string;
  sessionId: string;
  offset: number;
  limit: number;
};

const isList = new Ajv({ strict: true }).compile<SubscriptionList>(SubscriptionList);

/** The host limits a page by the bytes of its rows. */
const mostChars = 2 * limits.statePageBytes;

/**
 * Returns a page of subscriptions.
 *
 * @throws `conflict` if the session is over or ends meanwhile, `timeout` if its host does not answer in time, and
 * `unavailable` if it cannot be asked or its answer is not valid.
 */
export const readSubscriptions = async (
  parts: SessionParts,
  { projectId, sessionId, offset, limit }: SubscriptionsAsked,
  signal: AbortSignal,
): Promise<SubscriptionList> => {
  const inputJson = JSON.stringify({ offset, limit });
  const lost = `its subscriptions are rows that it alone had; what it sent to them is at /world-sessions/${sessionId}/requests?via=webhook`;
  const question = { projectId, sessionId, kind: 'webhooks', inputJson, lost, mostChars } as const;
  const word = await askHost(parts, question, signal);
  if (!word.ok) throw unreadable(sessionId, word.error.message ?? 'it did not say why');
  if (!isList(word.value)) throw unreadable(sessionId, 'what it says is no list of subscriptions');
  return word.value;
};
