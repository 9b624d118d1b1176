import picocolors from 'picocolors';
import { expect, it } from 'vitest';
import type { AdminHost, PoolReport } from '#wire/admin-api/operations.ts';
import { describeChecks, describeHosts, describeImports, describePools } from './admin.ts';

const colors = picocolors.createColors(false);
const wide = { colors, columns: Infinity };
const narrow = { colors, columns: 60 };

const host: AdminHost = {
  id: 'hst-1',
  installation: 'ins-1',
  pool: 'default',
  runtime: 'process',
  state: 'assigned',
  sessionId: 'ses-1',
  versionId: 'ver-1',
  world: 'local/default/notes',
  versionNumber: 3,
  uses: 1,
  address: null,
  ageMs: 90_000_000,
  stateAgeMs: 4_000,
  silentMs: 12,
  rssBytes: 80 * 2 ** 20,
  endReason: null,
  endDetail: null,
};

it('the list of hosts shows a host on one line, or on several if the line would be too long', () => {
  const [, line] = describeHosts({ hosts: [host], total: 1 }, wide).split('\n');
  expect(line).toBe(
    'hst-1  default  assigned  4.0 s  1 d 1 h  12 ms   80 MiB  1     ses-1    local/default/notes@3',
  );
  expect(describeHosts({ hosts: [host], total: 2 }, narrow).split('\n')).toEqual([
    'hst-1',
    '  pool default · state assigned · for 4.0 s · age 1 d 1 h',
    '  silent 12 ms · memory 80 MiB · uses 1 · session ses-1',
    '  world local/default/notes@3',
    '',
    '1 of 2 hosts; --limit shows more',
  ]);
});

it('the list of checks wraps messages at the edge of the terminal', () => {
  const message = 'default is to keep worlds loaded that do not exist: a/b/c';
  const checks = [{ name: 'pools', status: 'warning' as const, message, fix: 'make them' }];
  expect(describeChecks(checks, wide).split('\n')[0]).toBe(`!  pools  ${message}`);
  expect(describeChecks(checks, narrow).split('\n').slice(0, 3)).toEqual([
    '!  pools  default is to keep worlds loaded that do not',
    '          exist: a/b/c',
    '          → make them',
  ]);
});

const pool = (installation: string): PoolReport => ({
  installation,
  name: 'default',
  tier: null,
  isolation: 'process',
  size: 'standard',
  minimum: 0,
  maximum: 8,
  target: 2,
  held: null,
  worlds: [],
  isLed: true,
  unknownWorlds: [],
  hosts: { starting: 1, warm: 3, assigned: 4, recycling: 0, draining: 0 },
  fresh: 2,
});

it('the list of pools distinguishes hosts without a loaded world from those with one, and pools of the same name', () => {
  const show = (...installations: string[]) =>
    describePools(
      { pools: installations.map(pool), waitingSessions: 0, longestWaitMs: 0 },
      wide,
    ).split('\n');
  expect(show('a')).toEqual([
    'POOL     TIER  ISOLATION  SIZE      TARGET  FRESH  LOADED  BUSY  COMING  GOING  MAX',
    'default  both  process    standard  2       2      1       4     1       0      8',
  ]);
  expect(show('a', 'b').map((line) => line.split(' ')[0])).toEqual([
    'POOL',
    'a/default',
    'b/default',
  ]);
});

it('the list of pools shows a pool on several lines if one is too short, and why the pool launches no hosts', () => {
  const held = 'the image registry.example/host:7 cannot be pulled: not found ';
  const pools = [{ ...pool('a'), held }];
  const text = describePools({ pools, waitingSessions: 1, longestWaitMs: 9_000 }, narrow);
  expect(text.split('\n')).toEqual([
    'default',
    '  tier both · isolation process · size standard · target 2',
    '  fresh 2 · loaded 1 · busy 4 · coming 1 · going 0 · max 8',
    '',
    '1 session waiting for a host, the oldest for 9.0 s',
    'default: launches no hosts: the image',
    'registry.example/host:7 cannot be pulled: not found',
  ]);
});

it('the list of imports shows the progress of each import, and whether it has lost its worker', () => {
  const job = {
    ...({ id: 'bat-1', kind: 'import', world: 'local/default/crm', state: 'applying' } as const),
    ...{ ageMs: 61_000, leaseMs: -5, attempts: 2 },
    ...{ chunks: 4, rows: 40_000, validatedChunks: 4, appliedRows: 1_000 },
  };
  const text = describeImports({ imports: [job], total: 1 }, wide);
  expect(text.split('\n')[1]).toMatch(
    /bat-1 +local\/default\/crm +import +applying, worker gone +1 min 1 s +4 of 4 +1000 of 40000 +2/,
  );
  expect(describeImports({ imports: [], total: 0 }, wide)).toBe(
    'no import is queued or in progress',
  );
});
