/**
 * Tests the planner against golden text: plan.golden.txt holds situations and, under each, the plan. A
 * situation has one line for each fact, parsed by the functions below; `vitest -u` rewrites the plans.
 * Titles begin with the row of the tables in docs/internals/orchestrator.md that they show.
 *
 *   pool [name=big] target=2 max=4 waiting=1 steady=60s allowance=1 tokens=3 held launches=8 destroys=8
 *        surge=2 start=5m maxage=60m jitter=0.5 tier=premium size=large
 *   wish 3 tier=premium size=large isolation=gvisor oldest=ses_1
 *   world v1 hosts=2 [pool=big] [unknown]
 *   host a warm age=3s since=60m silent=1s launched holding preloaded=v1 pool=big busy=destroy at=<url>
 *   container a running|pending[:image]|created|exited[:out_of_memory] outdated reclaimed[=30s] at=<url>|nowhere
 */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type HostState, hostStates } from '#domain/host.ts';
import type { PoolConfig } from '#pools/pool-config.ts';
import { testPool } from '#test/support/orchestrator/pools.ts';
import type { PoolHost, PoolWorld, WaitingSessions } from '#wire/pool-api/operations.ts';
import { deadlines } from '../control-loop.ts';
import type { Container, ContainerTrouble } from '../driver/driver.ts';
import { plan } from './plan.ts';
import type { Action, Observation, PlanSettings, PoolSettings } from './terms.ts';

const goldenFile = new URL('./plan.golden.txt', import.meta.url);
const golden = readFileSync(goldenFile, 'utf8');
const docs = readFileSync(new URL('../../docs/internals/orchestrator.md', import.meta.url), 'utf8');

type Words = { flags: Set<string>; values: Map<string, string> };

const readWords = (words: string[]): Words => ({
  flags: new Set(words.filter((word) => !word.includes('='))),
  values: new Map(
    words.filter((word) => word.includes('=')).map((word) => word.split('=') as [string, string]),
  ),
});

const readMs = (text = '1s'): number => {
  const [, digits, unit] = /^(\d+)(s|m)$/.exec(text) ?? [];
  if (digits === undefined) throw new Error(`"${text}" is not a time`);
  return Number(digits) * (unit === 'm' ? 60_000 : 1_000);
};

/** Returns the address of a row or a container. */
const readAddress = ({ values }: Words): { address?: string | null } => {
  const address = values.get('at');
  return address === undefined ? {} : { address: address === 'nowhere' ? null : address };
};

const readHost = (id: string, state: string, words: Words): PoolHost => {
  const { flags, values } = words;
  if (!hostStates.includes(state as HostState)) throw new Error(`"${state}" is not a state`);
  return {
    id,
    pool: values.get('pool') ?? 'default',
    state: state as HostState,
    sessionId: null,
    stateAgeMs: readMs(values.get('age')),
    silentMs: state === 'starting' ? null : readMs(values.get('silent')),
    ageMs: readMs(values.get('since') ?? values.get('age')),
    launched: flags.has('launched'),
    versionId: flags.has('holding') ? 'v1' : (values.get('preloaded') ?? null),
    uses: flags.has('holding') ? 1 : 0,
    ...readAddress(words),
  };
};

const readContainer = (hostId: string, phase: string, words: Words): Container => {
  const { flags, values } = words;
  const [name, reason] = phase.split(':');
  return {
    hostId,
    phase: name as Container['phase'],
    digest: flags.has('outdated') ? 'old' : 'new',
    ...(values.has('node') ? { node: values.get('node') ?? '' } : {}),
    ...(reason === 'out_of_memory' ? { exit: { reason, detail: '' } } : {}),
    ...(name === 'pending' && reason !== undefined
      ? { trouble: { kind: reason as ContainerTrouble['kind'], message: '' } }
      : {}),
    ...(flags.has('reclaimed') || values.has('reclaimed')
      ? { reclaimed: { why: 'its node is drained', forMs: readMs(values.get('reclaimed')) } }
      : {}),
    ...readAddress(words),
  };
};

const readWish = (count: string, { values }: Words): WaitingSessions => ({
  tier: (values.get('tier') ?? 'standard') as WaitingSessions['tier'],
  isolation: (values.get('isolation') ?? null) as WaitingSessions['isolation'],
  size: values.get('size') ?? 'standard',
  count: Number(count),
  ...(values.has('oldest') ? { oldest: values.get('oldest') ?? '' } : {}),
});

const readPool = ({ flags, values }: Words): PoolSettings => {
  const number = (name: string, fallback: number): number => Number(values.get(name) ?? fallback);
  const maxAge = values.get('maxage');
  return {
    config: testPool({
      pool: values.get('name') ?? 'default',
      tier: (values.get('tier') ?? null) as PoolConfig['tier'],
      size: { ...testPool().size, name: values.get('size') ?? 'standard' },
      maximum: number('max', 10),
      surge: number('surge', 1),
      startMs: readMs(values.get('start') ?? '60s'),
      maxAgeMs: maxAge === undefined ? null : readMs(maxAge),
      maxAgeJitter: number('jitter', 0),
    }),
    digest: 'new',
    target: number('target', 0),
    launchAllowance: number('allowance', Number.POSITIVE_INFINITY),
    isHeld: flags.has('held'),
    tokens: number('tokens', 100),
  };
};

/** Limits of a whole situation; the line of any pool may have them. */
type Limits = {
  steady?: string;
  launches?: string;
  starts?: string;
  destroys?: string;
};

const readSituation = (lines: string[]): [Observation, PlanSettings] => {
  const pools: PoolSettings[] = [];
  const limits: Limits = {};
  const waiting: WaitingSessions[] = [];
  const worlds: PoolWorld[] = [];
  const hosts: PoolHost[] = [];
  const containers: Container[] = [];
  const busy = new Map<string, 'launch' | 'destroy'>();

  const addPool = (words: Words): void => {
    pools.push(readPool(words));
    Object.assign(limits, Object.fromEntries(words.values));
    const sessions = words.values.get('waiting');
    if (sessions !== undefined) waiting.push(readWish(sessions, readWords([])));
  };
  const addWorld = (versionId: string, { flags, values }: Words): void => {
    const pool = values.get('pool') ?? 'default';
    const hostsWanted = Number(values.get('hosts') ?? 1);
    const world = `acme/tests/${versionId}`;
    const settings = pools.find(({ config }) => config.pool === pool);
    if (settings === undefined) throw new Error(`there is no pool "${pool}"`);
    const all = [...settings.config.worlds, { world, hosts: hostsWanted }];
    settings.config = { ...settings.config, worlds: all };
    if (!flags.has('unknown')) worlds.push({ pool, world, versionId, hosts: hostsWanted });
  };

  if (!lines.some((line) => line.startsWith('pool'))) addPool(readWords([]));
  for (const line of lines) {
    const [kind, first = '', ...rest] = line.split(' ');
    const words = readWords(rest.slice(1));
    if (kind === 'pool') addPool(readWords([first, ...rest].filter(Boolean)));
    else if (kind === 'wish') waiting.push(readWish(first, readWords(rest)));
    else if (kind === 'world') addWorld(first, readWords(rest));
    else if (kind === 'host') {
      hosts.push(readHost(first, rest[0] ?? '', words));
      const work = words.values.get('busy');
      if (work !== undefined) busy.set(first, work as 'launch' | 'destroy');
    } else if (kind === 'container') containers.push(readContainer(first, rest[0] ?? '', words));
    else throw new Error(`cannot read "${line}"`);
  }
  return [
    {
      view: { revision: '1', hosts, waiting, worlds },
      containers,
      busy,
      steadyMs: readMs(limits.steady ?? '9m'),
    },
    {
      pools,
      launchesAtOnce: Number(limits.launches ?? 8),
      startsAtOnce: () => Number(limits.starts ?? 99),
      destroysAtOnce: Number(limits.destroys ?? 8),
      deadlines: { ...deadlines, startingMs: 3_000 },
    },
  ];
};

const printAction = (action: Action): string => {
  switch (action.kind) {
    case 'launch':
      return `launch ${action.count} in ${action.pool}`;
    case 'load':
      return `load ${action.versionId} on ${action.hostId}`;
    case 'adopt':
      return `adopt ${action.hostId}`;
    case 'readdress':
      return `readdress ${action.hostId} to ${action.address ?? 'nowhere'}`;
    case 'drain':
      return `drain ${action.hostId} if ${action.state}: ${action.reason}`;
    case 'report_gone':
      return `report ${action.hostId} gone: ${action.reason}`;
    case 'destroy':
      return `destroy ${action.hostId}: ${action.why}`;
    default:
      return action satisfies never;
  }
};

type Case = { title: string; facts: string[] };

const cases: Case[] = golden
  .split('\n== ')
  .slice(1)
  .map((block) => {
    const [title = '', ...lines] = block.split('\n');
    const end = lines.findIndex((line) => line.startsWith('=>'));
    return { title, facts: end === -1 ? lines.filter(Boolean) : lines.slice(0, end) };
  });

const printCase = ({ title, facts }: Case): string => {
  const actions = plan(...readSituation(facts)).map(printAction);
  const outcome = actions.length === 0 ? ['nothing'] : actions;
  return ['', `== ${title}`, ...facts, ...outcome.map((line) => `=> ${line}`), ''].join('\n');
};

describe('plan', () => {
  it('decides as the golden text shows', async () => {
    const head = golden.slice(0, golden.indexOf('\n== '));
    await expect(`${head}${cases.map(printCase).join('')}`).toMatchFileSnapshot(
      goldenFile.pathname,
    );
  });

  it('has a case for each row of the tables in the documentation', () => {
    const rows = [...docs.matchAll(/^\| ([HP]\d+) \|/gm)].map(([, row]) => row);
    const shown = cases.map(({ title }) => title.split(' ')[0]);
    expect(rows.length).toBeGreaterThan(30);
    expect([...new Set(shown)].sort()).toEqual(rows.sort());
  });

  it('has at least one case for each state of a host', () => {
    const facts = cases.flatMap((one) => one.facts).join('\n');
    for (const state of hostStates.filter((one) => one !== 'gone')) {
      expect(facts).toMatch(new RegExp(`^host \\w+ ${state}`, 'm'));
    }
  });

  it('gives equal plans for equal observations', () => {
    for (const { facts } of cases) {
      expect(plan(...readSituation(facts))).toEqual(plan(...readSituation(facts)));
    }
  });
});
