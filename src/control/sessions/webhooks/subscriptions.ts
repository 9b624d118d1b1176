/**
 * Lists the webhook subscriptions of a session. They are rows of the world, so the session's host is asked for them.
 */
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

/** Maximum length of the host's answer in characters. The host itself limits a page by the bytes of its rows. */
const mostChars = 2 * limits.statePageBytes;

/**
 * Returns a page of subscriptions.
 * @throws `conflict` if the session has ended or ends in the meantime, `timeout` if the host does not answer in time,
 * and `unavailable` if the host cannot be asked or its answer is not valid.
 */
export const readSubscriptions = async (
  parts: SessionParts,
  { projectId, sessionId, offset, limit }: SubscriptionsAsked,
  signal: AbortSignal,
): Promise<SubscriptionList> => {
  const inputJson = JSON.stringify({ offset, limit });
  const lost = `its subscriptions were lost with its host; its deliveries are at /world-sessions/${sessionId}/requests?via=webhook`;
  const question = { projectId, sessionId, kind: 'webhooks', inputJson, lost, mostChars } as const;
  const answer = await askHost(parts, question, signal);
  if (!answer.ok) throw unreadable(sessionId, answer.error.message ?? 'the host gave no reason');
  if (!isList(answer.value)) throw unreadable(sessionId, 'the answer is no list of subscriptions');
  return answer.value;
};
