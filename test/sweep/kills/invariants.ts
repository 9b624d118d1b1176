/**
 * Invariants that must hold after a fault: the database agrees with every answer to a client, nothing ran twice, every
 * session ended for a reason that the fault explains, and nothing is left over.
 */
import { readdirSync, readlinkSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { endReasons } from '#domain/session.ts';
import type { CallView } from '#wire/public-api/sessions/call.ts';
import type { Cost } from './faults.ts';
import type { Change } from './history.ts';
import type { Life } from './lives.ts';
import { poolMax, poolSize, type Service } from './service.ts';

type CallRow = { id: string; state: string; output: unknown };
type SessionRow = { id: string; state: string; endReason: string | null; error: unknown };
/** The database's records of the sessions of a case. */
export type Record = {
  sessions: SessionRow[];
  calls: CallRow[];
  /** Number of ledger entries by call. */
  ledger: { callId: string; entries: number }[];
  ends: Ends;
};

export const readRecord = async (
  { network: { sql } }: Service,
  changes: readonly Change[],
): Promise<Record> => {
  const opened = changes.filter(({ noun, before }) => noun === 'sessions' && before === null);
  const ids = [opened.map(({ id }) => id)];
  const [sessions, calls, ledger] = await Promise.all([
    sql<SessionRow>(
      'select id, state, end_reason as "endReason", error from sessions where id = any($1)',
      ids,
    ),
    sql<CallRow>('select id, state, output from calls where session_id = any($1)', ids),
    sql<Record['ledger'][number]>(
      `select call_id as "callId", count(*)::int as entries from requests
        where session_id = any($1) and call_id is not null group by call_id`,
      ids,
    ),
  ]);
  return { sessions, calls, ledger, ends: readEnds(changes) };
};

/** Checks that the answers that a client got about its calls agree with the database. */
const faultsOfCalls = ({ calls }: Life, record: Record): string[] => {
  const rows = new Map(record.calls.map((row) => [row.id, row]));
  return calls.flatMap(({ id, state, output }) => {
    const row = rows.get(id);
    if (row === undefined) return `${id} was acknowledged and is not in the database`;
    if (state === 'queued' || state === 'claimed') return [];
    if (row.state !== state) return `${id} was ${state} to its client and is ${row.state}`;
    return isDeepStrictEqual(row.output, output) ? [] : `${id} has another output by now`;
  });
};

const notesBefore = 1;
const foldersBefore = 1;

const addsNote = ({ kind }: CallView): boolean => kind === 'tool';

/** Checks that every acknowledged effect is in the state of the session exactly once. */
const faultsOfEffects = ({ calls }: Life): string[] => {
  const result = calls.find(({ kind, state }) => kind === 'state' && state === 'succeeded');
  const twice = calls
    .filter(({ error }) => error !== null && /taken|exists|duplicate/i.test(JSON.stringify(error)))
    .map(({ id, error }) => `${id} seems to have run twice: ${JSON.stringify(error)}`);
  if (result === undefined) return twice;
  const { counts } = result.output as { counts: { notes: number } };
  const expected =
    notesBefore + calls.filter((one) => addsNote(one) && one.state === 'succeeded').length;
  return counts.notes === expected
    ? twice
    : [...twice, `${result.sessionId} has ${counts.notes} notes instead of ${expected}`];
};

/** Time after the end of its session in which a host may still send an earlier result, in milliseconds. */
const lastAnswerMs = 1_000;
/**
 * Tolerance between readings of this process's clock and of the database's clock, in milliseconds. Both are the clock
 * of this machine.
 */
const readClockMs = 5;

/**
 * Checks writes over the API. Every acknowledged write must be in the state of a living session. No write may succeed
 * after the control plane has given up the session. The API of a ready session must be reachable.
 */
const faultsOfWrites = ({ session, calls, writes, isReached }: Life, ends: Ends): string[] => {
  if (session === undefined) return [];
  const { id } = session;
  const endedAt = ends.get(id)?.getTime() ?? Number.POSITIVE_INFINITY;
  const late = writes.filter(
    ({ sentAt, at, outcome }) =>
      outcome === 'done' &&
      (sentAt.getTime() > endedAt + readClockMs || at.getTime() > endedAt + lastAnswerMs),
  );
  const result = calls.find(({ kind, state }) => kind === 'state' && state === 'succeeded');
  const counts = (result?.output as { counts: { folders: number } } | undefined)?.counts;
  const done = writes.filter(({ outcome }) => outcome === 'done').length;
  const most = done + writes.filter(({ outcome }) => outcome === 'unknown').length;
  const added = (counts?.folders ?? 0) - foldersBefore;
  const isCounted = counts === undefined || (added >= done && added <= most);
  return [
    ...(isReached ? [] : [`${id} is READY, and its API cannot be reached`]),
    ...(late.length === 0 ? [] : [`${id}: ${late.length} writes were done after it was given up`]),
    ...(isCounted ? [] : [`${id} has ${added} of ${done} to ${most} folders`]),
  ];
};

/** Checks that a fault explains the ends of session and calls; any other end is reported. */
const faultsOfOutcome = ({ session, calls, refusals }: Life, costs: Cost): string[] => {
  if (session === undefined) return refusals;
  const { id, state, endReason, error } = session;
  const isTyped = endReason !== null && (endReasons as readonly string[]).includes(endReason);
  if (state !== 'CLOSED' && state !== 'FAILED') return [`${id} is ${state} for its client`];
  if (!isTyped) return [`${id} ended for "${endReason}"`];
  if (state === 'FAILED' && costs !== 'session') {
    return [`${id} FAILED (${endReason}, ${error?.message}), which this fault does not explain`];
  }
  if (state === 'FAILED' && error === null) return [`${id} FAILED without a word`];
  const explained = costs === 'session' ? [] : refusals;
  const lost = calls.filter(
    (call) => call.state !== 'succeeded' && !(costs === 'calls' && call.state === 'failed'),
  );
  const failed = costs === 'session' ? [] : lost;
  return [
    ...explained.map((refusal) => `${id}: ${refusal}`),
    ...failed.map((call) => `${call.id} is ${call.state}: ${JSON.stringify(call.error)}`),
  ];
};

/** Times at which sessions ended, by id. */
export type Ends = ReadonlyMap<string, Date>;

export const readEnds = (changes: readonly Change[]): Ends =>
  new Map(
    changes
      .filter(
        ({ noun, after }) => noun === 'sessions' && (after === 'CLOSED' || after === 'FAILED'),
      )
      .map(({ id, at }) => [id, at]),
  );

/** Returns all violations of one session. */
export const faultsOfLife = (life: Life, record: Record, costs: Cost): string[] => [
  ...faultsOfWrites(life, record.ends),
  ...faultsOfOutcome(life, costs),
  ...faultsOfCalls(life, record),
  ...faultsOfEffects(life),
];

/** Returns records of the database that contradict the clients' answers. */
export const faultsOfRecord = (record: Record, lives: readonly Life[]): string[] => [
  ...record.ledger
    .filter(({ entries }) => entries > 1)
    .map(({ callId }) => `${callId} is in a ledger twice`),
  ...record.sessions
    .filter(({ id }) => !lives.some(({ session }) => session?.id === id))
    .map(({ id, state }) => `${id} (${state}) was opened, and no client got the answer`),
];

const mostSockets = 60;

const socketsOf = (pid: number): number => {
  const folder = `/proc/${pid}/fd`;
  return readdirSync(folder).filter((fd) => {
    try {
      return readlinkSync(`${folder}/${fd}`).startsWith('socket:');
    } catch {
      return false; // it was closed between the listing and the look
    }
  }).length;
};

/** Compares the runtime's containers and addresses with the rows of hosts; returns the differences. */
const leftOnRuntime = async ({ containers, network }: Service, hostIds: readonly string[]) => {
  const found = await containers.find();
  const rows = await network.sql<{ id: string; address: string | null }>(
    `select id, address from hosts where state <> 'gone'`,
  );
  const addresses = await Promise.all(rows.map(({ id }) => containers.addressOf(id)));
  return [
    ...rows.flatMap(({ id, address }, at) => {
      const now = addresses[at];
      return now === undefined || now === address ? [] : `${id} is at ${now}, and not ${address}`;
    }),
    ...found.strays,
    ...found.hostIds.filter((id) => !hostIds.includes(id)).map((id) => `${id} has no row`),
    ...hostIds.filter((id) => !found.hostIds.includes(id)).map((id) => `${id} has no container`),
  ];
};

/** Returns why the service is not quiescent, or what is left over; empty when neither applies. */
export const findUnrest = async (service: Service): Promise<string[]> => {
  const { network } = service;
  const hosts = await network.hosts();
  const busy = hosts.filter(({ state }) => state !== 'warm');
  const rows = await network.sql<{ what: string }>(
    `select id || ' is ' || state as what from sessions where state not in ('CLOSED', 'FAILED')
     union all select id || ' is ' || state from calls where state in ('queued', 'claimed')
     union all select 'a connection is ' || state from pg_stat_activity
       where application_name like 'svc-control%' and state like 'idle in transaction%'`,
  );
  const sockets = socketsOf(network.control.pid);
  return [
    ...rows.map(({ what }) => what),
    ...busy.map(({ id, state }) => `${id} is ${state}`),
    ...(hosts.length < poolSize ? [`${hosts.length} hosts are warm`] : []),
    ...(hosts.length > poolMax ? [`there are ${hosts.length} hosts`] : []),
    ...(sockets > mostSockets ? [`the control plane has ${sockets} sockets`] : []),
    ...(await leftOnRuntime(
      service,
      hosts.map(({ id }) => id),
    )),
  ];
};
