/**
 * Webhooks that the service posts: how many a minute, what of processor time each takes, and whether memory grows.
 * Control plane and sender are processes; receivers answer at once, over TLS, in the process of the benchmark.
 */
import { readFileSync } from 'node:fs';
import { until } from '#runtime/pause.ts';
import { type PushPrograms, startPushPrograms } from '../support/push-programs.ts';
import { deliveryEntry, tellOf } from '../support/pushing.ts';
import type { Figure } from './figure.ts';
import { readProcessorTime } from './processor-time.ts';

/** The first round is not measured. */
const rounds = 4;
const perRound = 2_500;
const sessions = 10;
const together = 50;
const receivers = Array.from({ length: 20 }, (_, at) => `receiver-${at}.receiver.dev`);
const body = { action: 'opened', text: 'x'.repeat(1_000) };

const residentMb = (pid: number): number => {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1_024;
};

type Open = Awaited<ReturnType<PushPrograms['open']>>;

/** Answers what a host is asked, as one does that writes the answers of receivers into its ledger. */
const answerCalls = async ({ host }: Open, isOver: () => boolean): Promise<void> => {
  let { call } = await host.calls(1);
  while (!isOver()) {
    ({ call } =
      call === undefined ? await host.calls(1) : await host.answer(call.id, { output: {} }, 1));
  }
};

/** Has each session tell of its share of a round, from a number on. */
const tellRound = async (open: readonly Open[], first: number): Promise<void> => {
  const share = perRound / open.length;
  const tell = async ({ host }: Open): Promise<void> => {
    for (let begin = first; begin < first + share; begin += together) {
      const entries = Array.from({ length: together }, (_, at) => {
        const id = begin + at;
        const place = id % receivers.length;
        return deliveryEntry(id, `https://${receivers[place]}/`, { body, subscription: { place } });
      });
      await tellOf(host, entries);
    }
  };
  await Promise.all(open.map(tell));
};

type Measured = { perMinute: number; senderMs: number; controlMs: number; grownMb: number };

const measure = async (programs: PushPrograms, received: () => number): Promise<Measured> => {
  const pids = [programs.sender.pid, programs.control.pid];
  const open: Open[] = [];
  while (open.length < sessions) open.push(await programs.open());
  let isOver = false;
  const answered = open.map((each) => answerCalls(each, () => isOver));
  const resident = () => pids.reduce((sum, pid) => sum + residentMb(pid), 0);
  const run = async (round: number): Promise<void> => {
    await tellRound(open, 1 + round * (perRound / sessions));
    await until(async () => (await programs.sql('select from pushes limit 1')).length === 0, {
      ...{ timeoutMs: 300_000, everyMs: 250, what: 'a round to be posted' },
    });
  };
  await run(0); // what memory grows to at all, it does here
  const before = { mb: resident(), at: performance.now(), cpu: readProcessorTime(pids) };
  for (let round = 1; round <= rounds; round += 1) await run(round);
  isOver = true;
  await Promise.all(answered);
  const minutes = (performance.now() - before.at) / 60_000;
  const total = rounds * perRound;
  const spent = readProcessorTime(pids).map(
    ({ ownMs, startedMs }, place) =>
      ownMs + startedMs - (before.cpu[place]?.ownMs ?? 0) - (before.cpu[place]?.startedMs ?? 0),
  );
  if (received() !== total + perRound) {
    throw new Error(`${received()} deliveries were received, not ${total + perRound}`);
  }
  return {
    perMinute: total / minutes,
    senderMs: (spent[0] ?? 0) / total,
    controlMs: (spent[1] ?? 0) / total,
    grownMb: resident() - before.mb,
  };
};

const plain = { floor: null, peer: null } as const;

/** Posts some tens of thousands of deliveries. */
export const benchPush = async (databaseUrl: string): Promise<Figure[]> => {
  let count = 0;
  const programs = await startPushPrograms({
    databaseUrl,
    receivers,
    handle(request, response) {
      count += 1;
      request.resume();
      request.on('end', () => response.writeHead(204).end());
    },
  });
  try {
    const found = await measure(programs, () => count);
    return [
      {
        ...{ name: 'push.rate', value: found.perMinute, unit: 'deliveries/min', better: 'higher' },
        ...{ ...plain, target: 10_000 },
      },
      {
        ...{ name: 'push.sender.cpu', value: found.senderMs, unit: 'ms', better: 'lower' },
        ...{ ...plain, target: null },
      },
      {
        ...{ name: 'push.control.cpu', value: found.controlMs, unit: 'ms', better: 'lower' },
        ...{ ...plain, target: null },
      },
      {
        ...{ name: 'push.rss.growth', value: found.grownMb, unit: 'MB', better: 'lower' },
        ...{ ...plain, target: 50 },
      },
    ];
  } finally {
    await programs.stop();
  }
};
