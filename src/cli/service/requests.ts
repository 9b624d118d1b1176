/** Reads the requests of a session, open or ended. */
import { AppError } from '#domain/error.ts';
import { type LedgerOrigin, ledgerEntity } from '#domain/ledger.ts';
import { limits } from '#domain/limits.ts';
import { isReady } from '#domain/session.ts';
import type { Client } from '#wire/client.ts';
import type { LedgerEntry } from '#wire/host-api/ledger.ts';
import { getSession, listSessionRequests } from '#wire/public-api/operations.ts';
import type { RequestView } from '#wire/public-api/sessions/request.ts';
import type { Context } from '../terminal/context.ts';
import { outputOf } from '../views/call.ts';
import { exitStatus } from '../views/report.ts';
import { requestOfRow } from '../views/request.ts';
import { runCall } from './waits.ts';

/** Filter of requests; if it has no members, all requests match. */
export type RequestFilter = { via?: LedgerOrigin; operation?: string; status?: number };

type SessionRequests = {
  data: RequestView[];
  totalItems: number;
  /** Number of entries that were evicted or never arrived; absent if there are none. */
  dropped?: number;
};

const droppedOf = (dropped = 0): { dropped?: number } => (dropped > 0 ? { dropped } : {});

type RequestsQuestion = {
  client: Client;
  sessionId: string;
  filter: RequestFilter;
  /** Maximum number of requests to read, up to the page size of a state call. */
  limit: number;
};

/** Page of a host's ledger; `next` is the offset of the next page. */
type LedgerPage = { rows: LedgerEntry[]; total: number; next?: number; missing?: number };

/** Converts the filter for a host's ledger, in which the status is null for requests without one. */
const whereOf = ({ status, ...filter }: RequestFilter) => ({
  ...filter,
  ...(status === undefined ? {} : { status: status === 0 ? [0, null] : status }),
});

/**
 * Reads one page; undefined if the session is no longer open. If its host was lost during the call, the command's exit
 * status also becomes a failure.
 */
const askHostOnce = async (
  context: Context,
  { client, sessionId, filter, limit }: RequestsQuestion,
  offset: number,
): Promise<LedgerPage | undefined> => {
  const input = { entity: ledgerEntity, limit, offset, where: whereOf(filter) };
  try {
    const call = await runCall(context, { client, sessionId, call: { kind: 'state', input } });
    if (call.state === 'lost') context.setExitStatus(exitStatus.failed);
    if (call.state === 'lost' || call.state === 'cancelled') return undefined;
    return outputOf(call) as LedgerPage;
  } catch (error) {
    if (error instanceof AppError && error.code === 'conflict') return undefined;
    throw error;
  }
};

/**
 * Reads an open session's ledger page by page, since large entries make pages short; undefined if the session is no
 * longer open.
 */
const askHost = async (
  context: Context,
  question: RequestsQuestion,
): Promise<SessionRequests | undefined> => {
  const { sessionId, limit } = question;
  const data: RequestView[] = [];
  for (let offset = 0; ; ) {
    const left = limit - data.length;
    const page = await askHostOnce(context, { ...question, limit: left }, offset);
    if (page === undefined) return undefined;
    const { rows, total, next, missing } = page;
    data.push(...rows.map((row) => requestOfRow(sessionId, row)));
    if (next === undefined || data.length >= limit) {
      return { data, totalItems: total, ...droppedOf(missing) };
    }
    offset = next;
  }
};

/** Reads the stored requests of a session from the service. */
const askService = async (question: RequestsQuestion): Promise<SessionRequests> => {
  const { client, sessionId, filter, limit } = question;
  const data: RequestView[] = [];
  for (let page = 1; ; page += 1) {
    const query = { ...filter, page, limit: limits.pageMax };
    const { body } = await client.send(listSessionRequests, { params: { sessionId }, query });
    data.push(...body.data);
    const { totalItems, totalPages, dropped } = body.meta;
    if (data.length >= limit || page >= totalPages) {
      return { data: data.slice(0, limit), totalItems, ...droppedOf(dropped) };
    }
  }
};

/**
 * Returns the requests of a session, oldest first. If the session is ready, they come from the current ledger of its
 * host, otherwise from the service.
 */
export const readRequests = async (
  context: Context,
  question: RequestsQuestion,
): Promise<SessionRequests> => {
  const { client, sessionId } = question;
  const { body: session } = await client.send(getSession, { params: { sessionId } });
  if (!isReady(session.state)) return askService(question);
  const live = await askHost(context, question);
  if (live !== undefined) return live;
  context.err.write(`${sessionId} ended meanwhile; these are the requests that were stored\n`);
  return askService(question);
};
