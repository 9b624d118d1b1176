/** The subscriptions that a session has: its host is asked, as they are rows of the world. */
import { Ajv } from 'ajv';
import { AppError } from '#domain/error.ts';
import { limits } from '#domain/limits.ts';
import { SubscriptionList } from '#wire/public-api/delivery.ts';
import { enqueueOwn } from '../calls/enqueue.ts';
import { isOver } from '../calls/wait.ts';
import type { CallRow } from '../db/calls.ts';
import type { Parts } from '../parts.ts';

export type SubscriptionsAsked = {
  projectId: string;
  sessionId: string;
  offset: number;
  limit: number;
};

/** How long the host has, which may have other calls to run first, in milliseconds. */
const answerMs = 25_000;

const ended = (sessionId: string, why: string, cause?: unknown): AppError =>
  new AppError(
    'conflict',
    `${sessionId} ${why}, and its subscriptions are rows that it alone had; what it sent to them is at /world-sessions/${sessionId}/requests?via=webhook`,
    { cause },
  );

const ask = async (
  parts: Parts,
  { projectId, sessionId, offset, limit }: SubscriptionsAsked,
  signal: AbortSignal,
): Promise<CallRow> => {
  await parts.callRate.spend(projectId);
  const inputJson = JSON.stringify({ offset, limit });
  try {
    const call = { projectId, sessionId, kind: 'webhooks', inputJson } as const;
    return await enqueueOwn(parts, call, { ms: answerMs, signal });
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'conflict') throw error;
    throw ended(sessionId, 'is open no longer', error);
  }
};

const isList = new Ajv({ strict: true }).compile<SubscriptionList>(SubscriptionList);

/** A host bounds a page by the bytes of its rows; of one that runs strangers' code more is not read. */
const mostChars = 2 * limits.statePageBytes;

const unreadable = (sessionId: string, why: string): AppError =>
  new AppError('unavailable', `the host of ${sessionId} did not list its subscriptions: ${why}`);

const messageOf = ({ errorJson }: CallRow): string => {
  const { message } = JSON.parse(errorJson ?? '{}') as { message?: string };
  return message ?? 'it did not say why';
};

const readable = (sessionId: string, { outputJson }: CallRow): string => {
  if (outputJson === null) throw unreadable(sessionId, 'it said nothing');
  if (outputJson.length <= mostChars) return outputJson;
  throw unreadable(sessionId, 'it said too much; ask for fewer at once');
};

/**
 * A page of them. Throws `conflict` for a session that is over or ends meanwhile, `timeout` where its host has not
 * answered in time, and `unavailable` where it cannot be asked or what it says is none.
 */
export const readSubscriptions = async (
  parts: Parts,
  asked: SubscriptionsAsked,
  signal: AbortSignal,
): Promise<SubscriptionList> => {
  const { sessionId } = asked;
  const call = await ask(parts, asked, signal);
  if (!isOver(call)) {
    const message = `the host of ${sessionId} has not answered within ${answerMs / 1_000} s: it is busy with the calls before; ask again`;
    throw new AppError('timeout', message, { detail: { retryAfterMs: 1_000 } });
  }
  if (call.state === 'lost' || call.state === 'cancelled')
    throw ended(sessionId, 'ended meanwhile');
  if (call.state === 'failed') throw unreadable(sessionId, messageOf(call));
  const list: unknown = JSON.parse(readable(sessionId, call));
  if (!isList(list)) throw unreadable(sessionId, 'what it says is no list of them');
  return list;
};
