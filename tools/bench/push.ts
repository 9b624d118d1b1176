/**
 * Measures webhooks that the service posts: how many a minute, their processor time, and the growth of memory. Control
 * plane and sender are processes; receivers answer at once, over TLS, in the process of the benchmark.
 *
 * The first rounds do not count, since heaps first grow to their working size, about 100 MB a process, whatever is
 * alive in them. Live heap is measured besides resident memory, since only live heap shows memory that is never
 * released.
 */
import { readFileSync } from 'node:fs';
import { until } from '#runtime/pause.ts';
import type { Program } from '../../test/support/programs/program.ts';
import { type PushPrograms, startPushPrograms } from '../../test/support/webhooks/push-programs.ts';
import { deliveryEntry, tellOf } from '../../test/support/webhooks/pushing.ts';
import type { Figure } from './figure.ts';
import { readProcessorTime } from './processor-time.ts';

const warmUpRounds = 4;
const rounds = 8;
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

/** Answers the calls of a host, as a host does that writes the answers of receivers into its ledger. */
const answerCalls = async ({ host }: Open, isOver: () => boolean): Promise<void> => {
  let { call } = await host.calls(1);
  while (!isOver()) {
    ({ call } =
      call === undefined ? await host.calls(1) : await host.answer(call.id, { output: {} }, 1));
  }
};

/** Makes each session report its share of a round's deliveries, numbered from `first` on. */
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

/** Returns the live heap of a program that loads `tell-heap.ts`, in MB. */
const liveHeapMb = async ({ pid, log }: Program): Promise<number> => {
  const result = () => [...log().matchAll(/"liveHeapBytes":(\d+)/g)];
  const before = result().length;
  process.kill(pid, 'SIGUSR2');
  const [, bytes] = await until(() => result()[before], { timeoutMs: 10_000, what: 'a heap' });
  return Number(bytes) / 2 ** 20;
};

/** Returns the memory of both programs together. */
const memoryOf = async ({ sender, control }: PushPrograms) => ({
  residentMb: residentMb(sender.pid) + residentMb(control.pid),
  liveMb: (await liveHeapMb(sender)) + (await liveHeapMb(control)),
});

type Measured = {
  perMinute: number;
  senderMs: number;
  controlMs: number;
  residentGrownMb: number;
  liveGrownMb: number;
};

const measure = async (programs: PushPrograms, received: () => number): Promise<Measured> => {
  const pids = [programs.sender.pid, programs.control.pid];
  const open: Open[] = [];
  while (open.length < sessions) open.push(await programs.open());
  let isOver = false;
  const answered = open.map((each) => answerCalls(each, () => isOver));
  const run = async (round: number): Promise<void> => {
    await tellRound(open, 1 + round * (perRound / sessions));
    await until(async () => (await programs.sql('select from pushes limit 1')).length === 0, {
      ...{ timeoutMs: 300_000, everyMs: 250, what: 'a round to be posted' },
    });
  };
  for (let round = 0; round < warmUpRounds; round += 1) await run(round);
  const memory = await memoryOf(programs);
  const before = { at: performance.now(), cpu: readProcessorTime(pids) };
  for (let round = 0; round < rounds; round += 1) await run(warmUpRounds + round);
  const minutes = (performance.now() - before.at) / 60_000;
  const total = rounds * perRound;
  const spent = readProcessorTime(pids).map(
    ({ ownMs, startedMs }, place) =>
      ownMs + startedMs - (before.cpu[place]?.ownMs ?? 0) - (before.cpu[place]?.startedMs ?? 0),
  );
  const { residentMb, liveMb } = await memoryOf(programs);
  isOver = true;
  await Promise.all(answered);
  const sent = total + warmUpRounds * perRound;
  if (received() !== sent) throw new Error(`${received()} were received of ${sent} deliveries`);
  return {
    perMinute: total / minutes,
    senderMs: (spent[0] ?? 0) / total,
    controlMs: (spent[1] ?? 0) / total,
    residentGrownMb: residentMb - memory.residentMb,
    liveGrownMb: liveMb - memory.liveMb,
  };
};

const plain = { floor: null, peer: null } as const;

/** Posts some tens of thousands of deliveries. */
export const benchPush = async (databaseUrl: string): Promise<Figure[]> => {
  let count = 0;
  const programs = await startPushPrograms({
    databaseUrl,
    receivers,
    nodeOptions: `--expose-gc --import ${import.meta.resolve('./tell-heap.ts')}`,
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
        ...{ name: 'push.rss.growth', value: found.residentGrownMb, unit: 'MB', better: 'lower' },
        ...{ ...plain, target: 50 },
      },
      {
        ...{ name: 'push.heap.growth', value: found.liveGrownMb, unit: 'MB', better: 'lower' },
        ...{ ...plain, target: 10 },
      },
    ];
  } finally {
    await programs.stop();
  }
};
