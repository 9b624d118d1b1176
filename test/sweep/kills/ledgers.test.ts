/**
 * Tests ledgers of sessions that end while their control plane is down, their host is killed, or the database crashes.
 * Clients write over the API all the time and close their sessions around the strike. Afterwards each acknowledged
 * write is in the ledger of its session, or is counted as missing and the session reports that. No session is left.
 * `make sweep-ledgers` strikes a hundred times.
 */
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { isReady, sessionTransitions } from '#domain/session.ts';
import { isFinal } from '#domain/transitions.ts';
import { pause } from '#runtime/pause.ts';
import { closeSession, listSessionRequests, openSession } from '#wire/public-api/operations.ts';
import type { SessionView } from '#wire/public-api/sessions/session.ts';
import { retrying } from '#wire/retry.ts';
import { awaitSession } from '../../support/programs/load.ts';
import { signalTo } from '../../support/programs/processes.ts';
import { createChance } from '../../support/random/chance.ts';
import { isLong, isSingle } from './extent.ts';
import { rest } from './run-case.ts';
import { type Service, startService } from './service.ts';

const { seed, ledgers: times } = inject('sweep');

const victims = [
  'control plane killed',
  'control plane paused',
  'host killed',
  'control plane and host killed',
  'database crashed',
] as const;
type Victim = (typeof victims)[number];

type Case = {
  victim: Victim;
  /** Delay from the first close to the strike, in milliseconds; if negative, the strike comes first. */
  strikeMs: number;
  /** Time for which the victim is down, in milliseconds. */
  awayMs: number;
};

const chance = createChance(seed);
/**
 * Longest time for which the victim is down, in milliseconds: longer than any host waits for a control plane before it
 * discards its ledger.
 */
const longestAwayMs = isLong ? 30_000 : 16_000;
const cases: Case[] = Array.from({ length: isSingle ? 0 : times }, (_, at) => ({
  victim: victims[(at + seed) % victims.length] ?? 'control plane killed',
  strikeMs: Math.round(chance.share() < 0.5 ? chance.between(0, 400) : chance.between(-7_000, 0)),
  awayMs: Math.round(chance.between(500, longestAwayMs)),
}));

const caseTimeoutMs = 180_000;
const writeEveryMs = 40;
const answerMs = 5_000;
/** Time in which a client repeats unanswered requests, in milliseconds. */
const retryForMs = 90_000;
/** Time before the first of strike and close, in milliseconds. */
const quietMs = 700;

const found = { strikes: 0, writes: 0, kept: 0, counted: 0, 'not counted': 0, sessions: 0 };

type Written = { session: SessionView; done: Set<number>; stop(): Promise<void> };

/** Writes folders over the API of a session until it is stopped or refused permanently. */
const startWriting = (session: SessionView): Written => {
  const done = new Set<number>();
  const stopping = new AbortController();
  const { url, token } = session.surfaces.api ?? {};
  const write = async (id: number): Promise<void> => {
    try {
      const answer = await fetch(`${url}/folders`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ id, name: `folder ${id}` }),
        signal: AbortSignal.any([stopping.signal, AbortSignal.timeout(answerMs)]),
      });
      await answer.arrayBuffer();
      if (answer.ok) done.add(id);
    } catch {
      // A write without an answer was not acknowledged.
    }
  };
  const run = async (): Promise<void> => {
    for (let id = 1_001; !stopping.signal.aborted; id += 1) {
      await write(id);
      await pause(writeEveryMs, stopping.signal);
    }
  };
  const ended = run();
  return {
    session,
    done,
    async stop() {
      stopping.abort();
      await ended;
    },
  };
};

let service: Service;
/** True if the previous case left the service intact. */
let isSound = true;

/** Strikes, and resolves once the victim is back. */
const strike = async ({ victim, awayMs }: Case, hostIds: readonly string[]): Promise<void> => {
  const { network, containers } = service;
  found.strikes += 1;
  const killHosts = () => Promise.all(hostIds.map((hostId) => containers.kill(hostId)));
  if (victim === 'host killed') return void (await killHosts());
  if (victim === 'database crashed') return service.crashDatabase(() => pause(awayMs));
  if (victim === 'control plane paused') {
    const { pid } = network.control;
    signalTo(pid, 'SIGSTOP');
    await pause(awayMs);
    return signalTo(pid, 'SIGCONT');
  }
  await network.control.end('SIGKILL');
  await pause(awayMs / 2);
  if (victim !== 'control plane killed') await killHosts();
  await pause(awayMs / 2);
  await network.restartControl();
};

/** Returns the written folders, from the ledger of a session. */
const readLedger = async ({ id }: SessionView): Promise<{ kept: Set<number>; dropped: number }> => {
  const rows = await service.network.sql<{ folder: number }>(
    `select (request::jsonb #>> '{body,id}')::int as folder from requests
      where session_id = $1 and operation = 'add_folder' and status = 201`,
    [id],
  );
  const page = { params: { sessionId: id }, query: { limit: 1 } };
  const { meta } = (await service.direct.send(listSessionRequests, page)).body;
  return { kept: new Set(rows.map(({ folder }) => folder)), dropped: meta.dropped };
};

const faultsOfLedger = async ({ session, done }: Written): Promise<string[]> => {
  const { kept, dropped } = await readLedger(session);
  const missing = [...done].filter((id) => !kept.has(id)).length;
  found.sessions += 1;
  found.writes += done.size;
  found.kept += done.size - missing;
  found.counted += Math.min(missing, dropped);
  found['not counted'] += Math.max(0, missing - dropped);
  const account = `${session.id} (${session.state}, ${session.endReason}): ${missing} of ${done.size} writes are not in its ledger`;
  if (missing > dropped) return [`${account}, and ${dropped} are counted`];
  const isSaid = missing === 0 || /ledger/.test(session.error?.message ?? '');
  return isSaid ? [] : [`${account}, and it says ${JSON.stringify(session.error)}`];
};

/** Opens, writes and closes sessions around a strike, and returns the violations found afterwards. */
const runCase = async (given: Case): Promise<string[]> => {
  const client = retrying(service.network.client, { forMs: retryForMs });
  const written = await Promise.all(
    [true, false].map(async (reuseWarm) => {
      const body = { slug: 'notes', reuseWarm };
      const opened = (await client.send(openSession, { body })).body;
      return startWriting(await awaitSession(client, opened, ({ state }) => isReady(state)));
    }),
  );
  await pause(quietMs + Math.max(0, -given.strikeMs) / 10);
  const hosts = await service.network.hosts();
  const hostIds = hosts.filter(({ session_id }) => session_id !== null).map(({ id }) => id);
  const close = async ({ session }: Written, keepWarm: boolean): Promise<SessionView> => {
    const params = { sessionId: session.id };
    const closing = (await client.send(closeSession, { params, body: { keepWarm } })).body;
    return awaitSession(client, closing, ({ state }) => isFinal(sessionTransitions, state));
  };
  const striking = (async () => {
    await pause(Math.max(0, given.strikeMs));
    await strike(given, hostIds);
  })();
  const closing = (async () => {
    await pause(Math.max(0, -given.strikeMs));
    return Promise.all(written.map((one, at) => close(one, at === 0)));
  })();
  const [closed] = await Promise.all([closing, striking]);
  await Promise.all(written.map((one) => one.stop()));
  const left = await rest(service);
  const ledgers = written.map((one, at) => ({ ...one, session: closed[at] ?? one.session }));
  const wrongs = await Promise.all(ledgers.map(faultsOfLedger));
  return [...left.map((one) => `left: ${one}`), ...wrongs.flat()];
};

describe.runIf(cases.length > 0)('ledgers of sessions that end', () => {
  beforeAll(async () => {
    service = await startService('process');
  }, caseTimeoutMs);

  afterAll(async () => {
    const result = Object.entries(found).map(([what, number]) => `${number} ${what}`);
    console.info(`ledgers, seed ${seed}: ${result.join(', ')}`);
    await service.stop();
  });

  it.each(cases.map((given, at) => ({ ...given, at })))(
    'are complete, or the missing entries are counted and reported: $victim $strikeMs ms after the close, for $awayMs ms ($at)',
    { timeout: caseTimeoutMs },
    async (given) => {
      if (!isSound) {
        await service.stop();
        service = await startService('process');
      }
      isSound = false;
      expect(await runCase(given)).toEqual([]);
      isSound = true;
    },
  );
});
