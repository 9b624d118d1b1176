/**
 * Runs one case: two sessions run concurrently, the fault strikes at its moment and is repaired, the service becomes
 * quiescent, and all invariants are checked.
 */
import { AppError } from '#domain/error.ts';
import { pause, until } from '#runtime/pause.ts';
import { type Case, describeCase } from './cases.ts';
import type { Heal } from './faults.ts';
import { type Change, faultsOfHistory, readHistory } from './history.ts';
import { faultsOfLife, faultsOfRecord, findUnrest, readRecord } from './invariants.ts';
import { type Life, live } from './lives.ts';
import { poolMax, type Service } from './service.ts';

/** Time within which everything left over has to disappear, in milliseconds. */
const restMs = 30_000;
const liveMs = 60_000;
/** Time in which the consequences of a session's end occur, if they do, in milliseconds. */
const betweenRoundsMs = 3_000;

/** Violations that a case found, and the history of its events. */
export type Verdict = { wrongs: string[]; timeline: string };

/** Returns the host that the path of a request names; if it names none, a host that serves a session; else any host. */
const findHost = async ({ network }: Service, path: string): Promise<string | undefined> => {
  const [, noun, id] = /\/(hosts|world-sessions)\/([^/?]+)/.exec(path) ?? [];
  if (noun === 'hosts') return id;
  const hosts = await network.sql<{ id: string; session_id: string | null }>(
    `select id, session_id from hosts where state <> 'gone' order by created_at, id`,
  );
  const own = hosts.find(({ session_id }) => session_id !== null && session_id === id);
  return (own ?? hosts.find(({ session_id }) => session_id !== null) ?? hosts[0])?.id;
};

type Struck = { at: Date; path: string; hostId: string | undefined; healed: Promise<Date> };

const healedAt = async (heal: Heal): Promise<Date> => {
  await heal();
  return new Date();
};

/** Arms a strike at the case's moment; resolves when it has happened. */
const armCase = (service: Service, { fault, moment, delayMs, lastsMs }: Case): Promise<Struck> => {
  const struck = Promise.withResolvers<Struck>();
  service.links[moment.link].strikeAt(moment, async (path) => {
    try {
      if (delayMs > 0) await pause(delayMs);
      const hostId = await findHost(service, path);
      const at = new Date();
      const heal = await fault.strike(service, { hostId, lastsMs });
      const healed = healedAt(heal);
      healed.catch(() => undefined); // the caller that awaits it gets the error
      struck.resolve({ at, path, hostId, healed });
    } catch (error) {
      struck.reject(error);
    }
  });
  return struck.promise;
};

/** Returns the result of work within a time; throws `timeout`, naming the work, after that. */
export const within = async <Value>(
  work: Promise<Value>,
  ms: number,
  what: string,
): Promise<Value> => {
  const timer = new AbortController();
  const late = pause(ms, timer.signal).then(() => {
    if (!timer.signal.aborted) throw new AppError('timeout', `${what}: not within ${ms} ms`);
    return work;
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    timer.abort();
  }
};

/** Waits until the service is quiescent; returns what prevents that when time is up. */
export const rest = async (service: Service): Promise<string[]> => {
  let unrest: string[] = [];
  try {
    await until(
      async () => {
        unrest = await findUnrest(service);
        return unrest.length === 0;
      },
      { timeoutMs: restMs, everyMs: 50, what: 'rest' },
    );
    return [];
  } catch (error) {
    if (error instanceof AppError && error.code === 'timeout') return unrest;
    throw error;
  }
};

const lineOf = ({ at, noun, id, before, after, sessionId, generation, reason }: Change): string => {
  const facts = [
    noun === 'sessions' || sessionId === null ? '' : sessionId,
    generation === null ? '' : `generation ${generation}`,
    reason ?? '',
  ].filter((fact) => fact !== '');
  return `${at.toISOString()} ${id}: ${before ?? '-'} -> ${after}  ${facts.join(', ')}`;
};

const tellTimeline = (changes: readonly Change[], struck: Struck | undefined, healed?: Date) =>
  [
    ...changes.map(lineOf),
    ...(struck === undefined
      ? []
      : [
          `${struck.at.toISOString()} *** struck at ${struck.path} (${struck.hostId ?? 'no host'})`,
        ]),
    ...(healed === undefined ? [] : [`${healed.toISOString()} *** put right`]),
  ]
    .toSorted()
    .join('\n');

const lastNumber = async ({ network }: Service): Promise<number> =>
  (
    await network.sql<{ last: number }>('select coalesce(max(number), 0)::int as last from history')
  )[0]?.last ?? 0;

/** Opens, calls and closes one session over an undisturbed link, to check that the service works. */
const proveWorking = async ({ direct }: Service): Promise<Life> =>
  within(live(direct, true), liveMs, 'a session after the fault');

/**
 * Maximum number of rounds. Each round may use up two hosts, so within this many rounds a host is launched, even if a
 * fault has left some hosts unused.
 */
const mostRounds = poolMax / 2 + 1;

/** Runs two sessions concurrently, repeatedly until the moment has occurred. */
const liveUntil = async (
  service: Service,
  { keepWarm }: Case,
  striking: Promise<Struck>,
): Promise<Life[]> => {
  let hasStruck = false;
  const struck = striking.then(() => {
    hasStruck = true;
  });
  const patience = new AbortController();
  const lived: Life[] = [];
  for (let round = 1; round <= mostRounds && !hasStruck; round += 1) {
    lived.push(...(await Promise.all(keepWarm.map((keep) => live(service.client, keep)))));
    await Promise.race([struck, pause(betweenRoundsMs, patience.signal)]);
  }
  patience.abort();
  return lived;
};

/** Runs a case on a quiescent service. Throws only when the sweep itself fails. */
export const runCase = async (service: Service, given: Case): Promise<Verdict> => {
  const first = await lastNumber(service);
  const striking = armCase(service, given);
  const living = liveUntil(service, given, striking);
  living.catch(() => undefined); // the error of a failed strike is reported instead
  const wrongs: string[] = [];
  let struck: Struck | undefined;
  let healed: Date | undefined;
  try {
    struck = await within(striking, liveMs, `the moment "${given.moment.name}"`);
    healed = await within(struck.healed, liveMs, 'putting the fault right');
    const lived = await within(living, liveMs, 'the sessions lived');
    const proof = await proveWorking(service);
    wrongs.push(...(await rest(service)).map((left) => `left: ${left}`));
    const changes = await readHistory(service.network, first);
    const record = await readRecord(service, changes);
    wrongs.push(
      ...faultsOfHistory(changes),
      ...lived.flatMap((life) => faultsOfLife(life, record, given.fault.costs)),
      ...faultsOfLife(proof, record, 'nothing'),
      ...faultsOfRecord(record, [...lived, proof]),
    );
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    wrongs.push(error.message, ...(await findUnrest(service).catch((cause) => [String(cause)])));
  } finally {
    service.links[given.moment.link].disarm();
  }
  const changes = await readHistory(service.network, first);
  return { wrongs, timeline: tellTimeline(changes, struck, healed) };
};

/** Describes a failure, and how to reproduce it: the number of its case, and the number of cases in the sweep. */
export const tellFailure = (
  { given, total }: { given: Case; total: number },
  { wrongs, timeline }: Verdict,
  service: Service,
): string =>
  [
    `${describeCase(given)}: ${wrongs.join('; ')}`,
    `lasts ${given.lastsMs} ms, delayed ${given.delayMs} ms, keepWarm ${given.keepWarm}`,
    `again: make sweep SEED=${given.seed} TIMES=${total} CASE=${given.number} RUNTIME=${service.runtime}`,
    timeline,
    `--- control plane\n${tail(service.network.control.log())}`,
    `--- orchestrator\n${tail(service.network.orchestrator.log())}`,
  ].join('\n');

const tail = (log: string): string => log.split('\n').slice(-25).join('\n');
