/**
 * The planner against golden text: plan.golden.txt holds situations and, under each, the plan. A
 * situation is one line a fact, read by the functions below; `vitest -u` writes the plans anew.
 *
 *   pool target=2 max=4 waiting=1 steady=60s allowance=1 launches=8 destroys=8
 *   host a warm age=3s silent=1s launched holding other-pool busy=destroy
 *   container a running|created|exited[:out_of_memory] outdated
 */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type HostState, hostStates } from '#domain/host.ts';
import { testPool } from '#test/support/pools.ts';
import type { PoolHost, WaitingSessions } from '#wire/pool-api/operations.ts';
import { deadlines } from './control-loop.ts';
import type { Container } from './driver/driver.ts';
import { type Action, type Observation, type PlanSettings, plan } from './plan.ts';

const goldenFile = new URL('./plan.golden.txt', import.meta.url);
const golden = readFileSync(goldenFile, 'utf8');

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

const readHost = (id: string, state: string, { flags, values }: Words): PoolHost => {
  if (!hostStates.includes(state as HostState)) throw new Error(`"${state}" is not a state`);
  return {
    id,
    pool: flags.has('other-pool') ? 'other' : 'default',
    state: state as HostState,
    sessionId: null,
    stateAgeMs: readMs(values.get('age')),
    silentMs: state === 'starting' ? null : readMs(values.get('silent')),
    ageMs: readMs(values.get('age')),
    launched: flags.has('launched'),
    versionId: flags.has('holding') ? 'ver-1' : null,
    uses: flags.has('holding') ? 1 : 0,
  };
};

const readContainer = (hostId: string, phase: string, { flags }: Words): Container => {
  const [name, reason] = phase.split(':');
  return {
    hostId,
    phase: name as Container['phase'],
    digest: flags.has('outdated') ? 'old' : 'new',
    ...(reason === 'out_of_memory' ? { exit: { reason, detail: '' } } : {}),
  };
};

const readWaiting = (count: number): WaitingSessions[] =>
  count === 0 ? [] : [{ tier: 'standard', isolation: null, size: 'standard', count }];

const readSituation = (lines: string[]): [Observation, PlanSettings] => {
  const pool = readWords(['target=0', 'max=10']).values;
  const hosts: PoolHost[] = [];
  const containers: Container[] = [];
  const busy = new Map<string, 'launch' | 'destroy'>();
  for (const line of lines) {
    const [kind, id = '', state = '', ...rest] = line.split(' ');
    if (kind === 'pool') {
      for (const [name, value] of readWords([id, state, ...rest]).values) pool.set(name, value);
    } else if (kind === 'host') {
      const words = readWords(rest);
      hosts.push(readHost(id, state, words));
      const work = words.values.get('busy');
      if (work !== undefined) busy.set(id, work as 'launch' | 'destroy');
    } else if (kind === 'container') {
      containers.push(readContainer(id, state, readWords(rest)));
    } else {
      throw new Error(`cannot read "${line}"`);
    }
  }
  const number = (name: string, fallback: number): number => Number(pool.get(name) ?? fallback);
  return [
    {
      view: { revision: '1', hosts, waiting: readWaiting(number('waiting', 0)) },
      containers,
      busy,
      steadyMs: readMs(pool.get('steady') ?? '9m'),
    },
    {
      pools: [
        {
          config: { ...testPool(), maximum: number('max', 10) },
          digest: 'new',
          target: number('target', 0),
          launchAllowance: number('allowance', Number.POSITIVE_INFINITY),
        },
      ],
      launchesAtOnce: number('launches', 8),
      destroysAtOnce: number('destroys', 8),
      deadlines,
    },
  ];
};

const printAction = (action: Action): string => {
  switch (action.kind) {
    case 'launch':
      return `launch ${action.count} in ${action.pool}`;
    case 'adopt':
      return `adopt ${action.hostId}`;
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
  it('decides as the golden text says', async () => {
    const head = golden.slice(0, golden.indexOf('\n== '));
    await expect(`${head}${cases.map(printCase).join('')}`).toMatchFileSnapshot(
      goldenFile.pathname,
    );
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
