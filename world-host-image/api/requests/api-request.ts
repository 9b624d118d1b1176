/** A request to a session's API as its client sent it, and what it came to: for all who have a part in it. */
import type { ChangeCounts } from '#domain/call.ts';
import type { RowChange } from '#store/write/write-set.ts';
import type { Met } from '../../session/faults.ts';
import type { Outgoing } from '../../session/outbox.ts';
import type { ApiAnswer } from '../answers/answer.ts';

export type ApiRequest = {
  method: string;
  /** As sent, without the query. */
  path: string;
  query: URLSearchParams;
  /** Names in lower case. */
  headers: Record<string, string>;
  /** Undefined when the body is over the limit. */
  readBody(): Promise<Buffer | undefined>;
  /** Below which path of its origin the client finds the API; absent: at the origin itself. */
  mountedAt?: string;
};

export type ApiOutcome = {
  answer: ApiAnswer;
  /** The route's name, or that of requests for tokens; null when no route was found. */
  operation: string | null;
  /** Whether the request carried a valid credential. */
  authorized: boolean;
  /** As parsed, or the text that could not be. */
  body: unknown;
  changes: ChangeCounts;
  rows: RowChange[];
  /** Webhooks that the request sent. */
  outgoing: Outgoing;
  /** The answer as its client is sent it, with addresses that the client reaches. */
  sent: ApiAnswer;
  /** What declared faults do to it, where the session has any. */
  met?: Met;
  /** What was thrown that nobody planned for, if anything: the host's fault, to be logged. */
  fault?: unknown;
};
