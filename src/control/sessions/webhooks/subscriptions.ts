/** The subscriptions that a session has: its host is asked, as they are rows of the world. */
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

/** A host bounds a page by the bytes of its rows. */
const mostChars = 2 * limits.statePageBytes;

/**
 * A page of them. Throws `conflict` for a session that is over or ends meanwhile, `timeout` where its host has not
 * answered in time, and `unavailable` where it cannot be asked or what it says is none.
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
