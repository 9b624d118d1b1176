/**
 * Tests webhooks whose sender, control plane, or both, are killed during deliveries. Afterwards no delivery was
 * received twice, and each has one recorded answer: its receiver's, or the reason why that is unknown. A sender that
 * survives leaves no answer unknown. `make sweep-webhooks` runs a hundred cases.
 */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { pause, until } from '#runtime/pause.ts';
import { type PostgresServer, startPostgres } from '../../../src/cli/up/postgres.ts';
import type { PlayedHost } from '../../support/control/host.ts';
import { createChance } from '../../support/random/chance.ts';
import { type PushPrograms, startPushPrograms } from '../../support/webhooks/push-programs.ts';
import { deliveryEntry, type KeptAnswer, tellOf } from '../../support/webhooks/pushing.ts';
import { isSingle } from './extent.ts';

const { seed, webhooks: times } = inject('sweep');
const victims = ['sender', 'control plane', 'both'] as const;
type Case = { victim: (typeof victims)[number]; delayMs: number };

const chance = createChance(seed);
const cases: Case[] = Array.from({ length: isSingle ? 0 : times }, (_, at) => ({
  victim: victims[(at + seed) % victims.length] ?? 'sender',
  delayMs: Math.round(chance.between(0, 600)),
}));

const timeoutMs = 120_000;
const receivers = ['one.receiver.dev', 'two.receiver.dev', 'three.receiver.dev'];
/** Number of deliveries of a case, of deliveries reported together, and of subscriptions. */
const deliveries = 60;
const together = 5;
const subscriptions = 12;

let folder: string;
let server: PostgresServer;
let programs: PushPrograms;
/** Number of receipts of each delivery, by session and number. */
const received = new Map<string, number>();

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-sweep-webhooks-'));
  server = await startPostgres({
    dataDir: join(folder, 'pg'),
    password: randomBytes(12).toString('hex'),
    flags: { max_connections: '40' },
  });
  programs = await startPushPrograms({
    databaseUrl: server.url(),
    receivers,
    handle(request, response) {
      const key = String(request.headers['x-delivery']);
      received.set(key, (received.get(key) ?? 0) + 1);
      request.resume();
      const rest = setTimeout(() => response.writeHead(200).end('ok'), chance.between(0, 30));
      response.on('close', () => clearTimeout(rest));
    },
  });
}, timeoutMs);

/** Results of all cases together. */
const found = {
  ...{ moments: 0, 'with deliveries under way': 0, deliveries: 0, received: 0, twice: 0 },
  ...{ answered: 0, 'unanswered with reason': 0, forgotten: 0 },
};

afterAll(async () => {
  const result = Object.entries(found).map(([what, number]) => `${number} ${what}`);
  console.info(`webhooks, seed ${seed}: ${result.join(', ')}`);
  await programs.stop();
  await server.stop();
  await rm(folder, { recursive: true, force: true });
});

/** Reports deliveries as a host does: repeatedly, until they are accepted. */
const tellUntilTaken = (host: PlayedHost, entries: { id: number }[]): Promise<boolean> =>
  until(
    () =>
      tellOf(host, entries).then(
        () => true,
        () => false,
      ),
    { timeoutMs: 60_000, what: 'entries to be taken' },
  );

/**
 * Kills the victim and restarts it; returns the time, on the database's clock, until which the killed sender had its
 * claims.
 */
const strike = async (victim: Case['victim']): Promise<string> => {
  const { control, sender } = programs;
  const [killsSender, killsControl] = [victim !== 'control plane', victim !== 'sender'];
  await Promise.all([killsSender && sender.end('SIGKILL'), killsControl && control.end('SIGKILL')]);
  const [left] = await programs.sql<{ at: string; sending: number }>(
    `select clock_timestamp()::text as at, count(*)::int as sending from pushes where state = 'sending'`,
  );
  found.moments += 1;
  if ((left?.sending ?? 0) > 0) found['with deliveries under way'] += 1;
  await Promise.all([
    killsControl && programs.startControl(),
    killsSender && programs.startSender(),
  ]);
  return killsSender ? (left?.at ?? '-infinity') : '-infinity';
};

const tellAll = async (host: PlayedHost, sessionId: string): Promise<void> => {
  for (let first = 1; first <= deliveries; first += together) {
    const entries = Array.from({ length: together }, (_, at) => {
      const id = first + at;
      const subscription = { id: id % subscriptions };
      const headers = { 'content-type': 'application/json', 'x-delivery': `${sessionId}.${id}` };
      const to = `https://${receivers[subscription.id % receivers.length]}/`;
      return deliveryEntry(id, to, { subscription, headers });
    });
    await tellUntilTaken(host, entries);
    await pause(chance.between(0, 40));
  }
};

/** Sends deliveries while the victim is killed and restarted, and returns the recorded answers. */
const sendStruck = async ({ victim, delayMs }: Case) => {
  const { host, sessionId } = await programs.open();
  const result = tellAll(host, sessionId);
  await pause(delayMs);
  const endedAt = await strike(victim);
  await result;
  await until(
    async () => {
      // The claims of a dead sender expire after a minute; this makes them expire now.
      await programs.sql(
        `update pushes set claimed_at = now() - interval '2 minutes' where claimed_at < '${endedAt}'`,
      );
      return (await programs.sql('select from pushes limit 1')).length === 0;
    },
    { timeoutMs: 90_000, everyMs: 200, what: 'all pushes to end' },
  );
  const answers = await programs.sql<KeptAnswer>(
    `select * from delivery_answers where session_id = '${sessionId}' order by delivery_id`,
  );
  return { sessionId, answers };
};

const ended = 'sender ended before the answer was known';

/** Adds the results of a session's deliveries to the totals. */
const count = (sessionId: string, answers: readonly KeptAnswer[]): void => {
  const times = Array.from(
    { length: deliveries },
    (_, at) => received.get(`${sessionId}.${at + 1}`) ?? 0,
  );
  const answered = answers.filter(({ status }) => status !== 0).length;
  found.deliveries += deliveries;
  found.received += times.filter((each) => each > 0).length;
  found.twice += times.filter((each) => each > 1).length;
  found.answered += answered;
  found['unanswered with reason'] += answers.length - answered;
  found.forgotten += deliveries - answers.length;
};

describe.runIf(cases.length > 0)('deliveries', () => {
  it.each(cases.map((given, at) => ({ ...given, at })))(
    'are received once or have their reason when the $victim is killed after $delayMs ms ($at)',
    { timeout: timeoutMs },
    async (given) => {
      const { sessionId, answers } = await sendStruck(given);
      count(sessionId, answers);
      expect(answers.map(({ delivery_id }) => delivery_id)).toEqual(
        Array.from({ length: deliveries }, (_, at) => at + 1),
      );
      for (const { delivery_id, status, reason } of answers) {
        const times = received.get(`${sessionId}.${delivery_id}`) ?? 0;
        if (status === 200) expect(times, `delivery ${delivery_id}`).toBe(1);
        else {
          expect([status, reason], `delivery ${delivery_id}`).toEqual([0, ended]);
          expect(times, `delivery ${delivery_id}`).toBeLessThan(2);
        }
      }
      // Each subscription has at most one delivery in progress, so no more answers than that may be unknown.
      const unknown = answers.filter(({ status }) => status === 0).length;
      const most = given.victim === 'control plane' ? 0 : subscriptions;
      expect(unknown).toBeLessThanOrEqual(most);
    },
  );
});
