/** Request to a session's API as its client sent it, and its outcome. */
import type { ChangeCounts } from '#domain/call.ts';
import type { RowChange } from '#store/write/write-set.ts';
import type { Met } from '../../session/faults.ts';
import type { Outgoing } from '../../session/outbox.ts';
import type { ApiAnswer } from '../answers/answer.ts';

export type ApiRequest = {
  method: string;
  /** Path as sent, without the query. */
  path: string;
  query: URLSearchParams;
  /** Headers with names in lower case. */
  headers: Record<string, string>;
  /** Reads the body; undefined when it is larger than the limit. */
  readBody(): Promise<Buffer | undefined>;
  /** Path below the origin at which the client finds the API; absent if the API is at the origin itself. */
  mountedAt?: string;
};

export type ApiOutcome = {
  answer: ApiAnswer;
  /** Operation of the route, or of token requests; null if no route was found. */
  operation: string | null;
  /** True if the request carried a valid credential. */
  authorized: boolean;
  /** Parsed body, or its text if it could not be parsed. */
  body: unknown;
  changes: ChangeCounts;
  rows: RowChange[];
  /** Webhooks that the request sent. */
  outgoing: Outgoing;
  /** Answer as sent to the client, with addresses that the client can reach. */
  sent: ApiAnswer;
  /** Declared faults that apply to the request; absent if the session declares none. */
  met?: Met;
  /** Unexpected error, which is a bug of the host and is logged. */
  fault?: unknown;
};
