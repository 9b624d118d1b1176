/**
 * Measures how many live sessions of `code-hosting` fit into a GiB. Hosts run as in their image, each with a session
 * that was called ten times. The memory of each with all its child processes is read some seconds later. Shared pages
 * (the program, the system's libraries) are counted in parts (PSS), since the machine holds them once.
 *
 * `density.hold` keeps as many sessions as fit into 8 GiB for minutes and calls each once a minute. Each host has a
 * stand-in for its control plane, whose memory is not counted.
 */
import { readFileSync } from 'node:fs';
import { freemem } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { machineClock } from '../../src/domain/world-clock.ts';
import { encodeBundle, selectUserCode } from '../../src/language/artifacts/bundle.ts';
import { digestOf } from '../../src/language/artifacts/digest.ts';
import { compileTree } from '../../src/language/compile/compile.ts';
import { buildSnapshot } from '../../src/store/snapshot.ts';
import { templateTree } from '../../test/support/worlds/worlds.ts';
import type { Figure } from './figure.ts';
import { type StartedHost, startWarmHost } from './host-ours.ts';

/**
 * Number of measured sessions: about as many as fit into a GiB. Shared pages are counted in parts, so with fewer
 * sessions each would seem to cost more.
 */
const measuredSessions = 28;
/**
 * Time after which an idle host has checked whether it can release memory, in milliseconds; it checks every few
 * seconds.
 */
const idleMs = 10_000;
const gibibyte = 1024 ** 3;
const heldBytes = 8 * gibibyte;
/** Number of sessions that are opened concurrently; and below it, the minutes for which all sessions are held. */
const batch = 4;
const heldMinutes = 3;

const buildCodeHosting = () => {
  const files = templateTree('code-hosting');
  const compiled = compileTree(files);
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.problems));
  const { contract, baseRows } = compiled;
  const bundle = encodeBundle({ contract, files: selectUserCode(contract, files) });
  const snapshot = buildSnapshot(contract, baseRows).bytes;
  const blobs = new Map([bundle, snapshot].map((bytes) => [digestOf(bytes), bytes]));
  return { bundle: digestOf(bundle), snapshot: digestOf(snapshot), blobs };
};

type World = ReturnType<typeof buildCodeHosting>;

const openHost = async ({ bundle, snapshot, blobs }: World): Promise<StartedHost> => {
  const host = await startWarmHost(blobs);
  const { token } = host;
  const version = { bundle, snapshot, blobs: {}, worldSlug: 'code-hosting' };
  const session = { sessionId: 'ses-bench', generation: 1, sessionToken: token, surfaces: ['api'] };
  host.control.assign({
    ...session,
    ...version,
    task: null,
    clock: machineClock,
    seed: null,
  } as Parameters<typeof host.control.assign>[0]);
  await host.control.message('reportReady');
  return host;
};

const repository = '/repos/northquay/berth';

/** Paths that an agent reads. */
const reads = [
  '/user',
  repository,
  `${repository}/issues?per_page=30`,
  `${repository}/issues/41`,
  `${repository}/issues/41/comments`,
  `${repository}/labels`,
  '/search/issues?q=repo:northquay/berth+is:open+tide',
];

const ask = async ({ url, token }: StartedHost, path: string, body?: object): Promise<void> => {
  const response = await fetch(`${url}${path}`, {
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
  });
  await response.arrayBuffer();
  if (!response.ok) throw new Error(`${path} was answered with ${response.status}`);
};

const callTool = async ({ control }: StartedHost, name: string, input: object): Promise<void> => {
  const answer = await control.call('tool', name, input);
  if (answer.error != null) throw new Error(`${name} failed: ${JSON.stringify(answer.error)}`);
};

const named = { owner: 'northquay', repo: 'berth' };

/** Makes seven reads and a write over the API, a call of a tool by convention, and one of a tool in Python. */
const callTenTimes = async (host: StartedHost): Promise<void> => {
  for (const path of reads) await ask(host, path);
  await ask(host, `${repository}/issues/41/comments`, { body: 'Seen.' });
  await callTool(host, 'get_issues', { ...named, number: 41 });
  await callTool(host, 'triage_summary', named);
};

/** Returns the processes of a host: itself and those below it. */
export const treeOf = (pid: number): number[] => {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  return [pid, ...(children === '' ? [] : children.split(' ').map(Number).flatMap(treeOf))];
};

export const pssBytes = (pid: number): number => {
  const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
  return Number(/^Pss:\s+(\d+)/m.exec(rollup)?.[1]) * 1024;
};

/** Returns the memory of a process for files whose paths contain the text: its share, and all of it. */
export const mappedBytes = (pid: number, text: string): { pss: number; rss: number } => {
  const found = { pss: 0, rss: 0 };
  let isCounted = false;
  for (const line of readFileSync(`/proc/${pid}/smaps`, 'utf8').split('\n')) {
    const [word = '', amount] = line.split(/\s+/, 2);
    if (/^[0-9a-f]+-[0-9a-f]+$/.test(word)) isCounted = line.includes(text);
    else if (isCounted && word === 'Pss:') found.pss += Number(amount) * 1024;
    else if (isCounted && word === 'Rss:') found.rss += Number(amount) * 1024;
  }
  return found;
};

/** Returns the bytes of a host with all its child processes. */
const memoryOf = ({ pid }: StartedHost): number =>
  treeOf(pid).reduce((sum, process) => sum + pssBytes(process), 0);

const total = (hosts: readonly StartedHost[]): number =>
  hosts.reduce((sum, host) => sum + memoryOf(host), 0);

const figure = (
  name: string,
  value: number,
  unit: Figure['unit'],
  target: number | null,
): Figure => ({
  name,
  value,
  unit,
  floor: null,
  peer: null,
  target,
  better: unit === 'MB' ? 'lower' : 'higher',
});

const mebibytes = (bytes: number): number => bytes / 1024 ** 2;

const stopAll = async (hosts: readonly StartedHost[]): Promise<void> => {
  await Promise.all(hosts.map((host) => host.stop()));
};

const openMany = (count: number, world: World): Promise<StartedHost[]> =>
  Promise.all(Array.from({ length: count }, () => openHost(world)));

const measure = async (world: World): Promise<Figure[]> => {
  const hosts: StartedHost[] = [];
  try {
    while (hosts.length < measuredSessions) hosts.push(...(await openMany(batch, world)));
    const opened = total(hosts) / hosts.length;
    await Promise.all(hosts.map(callTenTimes));
    const atOnce = total(hosts) / hosts.length;
    await pause(idleMs);
    const called = total(hosts) / hosts.length;
    await Promise.all(
      hosts.map((host) => callTool(host, 'find_duplicates', { ...named, number: 41 })),
    );
    const both = total(hosts) / hosts.length;
    return [
      figure('density.per_gib', gibibyte / called, 'sessions', 30),
      figure('density.opened', mebibytes(opened), 'MB', null),
      figure('density.called', mebibytes(called), 'MB', null),
      figure('density.called.at_once', mebibytes(atOnce), 'MB', null),
      figure('density.called.typescript', mebibytes(both), 'MB', null),
    ];
  } finally {
    await stopAll(hosts);
  }
};

/** Calls each host once, spread over a minute. Returns how many calls failed. */
const callAll = async (
  hosts: readonly StartedHost[],
  say: (line: string) => void,
): Promise<number> => {
  const outcomes = await Promise.all(
    hosts.map(async (host, index) => {
      await pause((index / hosts.length) * 60_000);
      return ask(host, `${repository}/issues/41`).then(
        () => 0,
        (error: unknown) => {
          say(`  ${String(error)}`);
          return 1;
        },
      );
    }),
  );
  return outcomes.reduce<number>((sum, failed) => sum + failed, 0);
};

const hold = async (world: World, say: (line: string) => void): Promise<Figure[]> => {
  const hosts: StartedHost[] = [];
  const bound = Math.min(heldBytes, freemem() * 0.8);
  try {
    let bytes = 0;
    while (bytes * (1 + batch / Math.max(1, hosts.length)) < bound) {
      const more = await openMany(batch, world);
      hosts.push(...more);
      await Promise.all(more.map(callTenTimes));
      bytes = total(hosts);
    }
    say(`  ${hosts.length} sessions take ${mebibytes(bytes).toFixed(0)} MB`);
    let failed = 0;
    for (let minute = 0; minute < heldMinutes; minute += 1) failed += await callAll(hosts, say);
    say(`  called for ${heldMinutes} minutes, they take ${mebibytes(total(hosts)).toFixed(0)} MB`);
    return [figure('density.hold', hosts.length - failed, 'sessions', null)];
  } finally {
    await stopAll(hosts);
  }
};

/** Measures density. `hold` takes minutes and most of a machine, so it runs only under its own name. */
export const benchDensity = async (
  only: string,
  say: (line: string) => void,
): Promise<Figure[]> => {
  if (process.platform !== 'linux') {
    say('left out: density (there is no /proc)');
    return [];
  }
  const world = buildCodeHosting();
  return only.startsWith('density.hold') ? hold(world, say) : measure(world);
};
