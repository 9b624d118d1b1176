/** Reading the requests of a session, whether it lives or not. */
import { AppError } from '#domain/error.ts';
import { type LedgerWay, ledgerEntity } from '#domain/ledger.ts';
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

/** Which requests are asked for; all where nothing is given. */
export type RequestFilter = { via?: LedgerWay; operation?: string; status?: number };

type SessionRequests = {
  data: RequestView[];
  totalItems: number;
  /** Entries that made room or never came; only where there are any. */
  dropped?: number;
};

const droppedOf = (dropped = 0): { dropped?: number } => (dropped > 0 ? { dropped } : {});

type RequestsQuestion = {
  client: Client;
  sessionId: string;
  filter: RequestFilter;
  /** Requests at most, up to what a page of a state call may have. */
  limit: number;
};

/** A page of the ledger as a session's host shows it; `next` is where the next one begins. */
type LedgerPage = { rows: LedgerEntry[]; total: number; next?: number; missing?: number };

/** In the ledger of a host what has no status has null for it. */
const whereOf = ({ status, ...filter }: RequestFilter) => ({
  ...filter,
  ...(status === undefined ? {} : { status: status === 0 ? [0, null] : status }),
});

/** One page; undefined when the session lives no more. When its host died while it was asked, the command failed. */
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
 * What the ledger of a session that lives holds, page by page, as many as its large entries take;
 * undefined when it lives no more.
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

/** What was kept of a session. */
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
 * The requests of a session, oldest first: of one that is ready what its ledger holds at this moment,
 * of any other what was kept of it.
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
  context.err.write(`${sessionId} ended meanwhile; this is what was kept of it\n`);
  return askService(question);
};
