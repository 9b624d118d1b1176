/** Pools of world hosts as an operator reads them. */
import type { PoolReport } from '#wire/admin-api/operations.ts';
import type { Colors } from '../context.ts';
import { formatCount, formatDuration, wrapLines } from '../print.ts';
import { formatRows, type View } from './rows.ts';

type PoolsAnswer = {
  pools: readonly PoolReport[];
  waitingSessions: number;
  longestWaitMs: number;
};

const head = [
  'POOL',
  'TIER',
  'ISOLATION',
  'SIZE',
  'TARGET',
  'FRESH',
  'LOADED',
  'BUSY',
  'COMING',
  'GOING',
  'MAX',
];

/** Names of pools, with their installation where there are several. */
const namesOf = (pools: readonly PoolReport[]): ((pool: PoolReport) => string) =>
  new Set(pools.map(({ installation }) => installation)).size > 1
    ? ({ installation, name }) => `${installation}/${name}`
    : ({ name }) => name;

const lineOf = (pool: PoolReport, name: string): string[] => {
  const { starting, warm, assigned, recycling, draining } = pool.hosts;
  const loaded = warm - pool.fresh;
  const coming = starting + recycling;
  const counts = [pool.target, pool.fresh, loaded, assigned, coming, draining, pool.maximum];
  return [name, pool.tier ?? 'both', pool.isolation, pool.size, ...counts.map(String)];
};

const remarkOnWorld = (
  { unknownWorlds }: PoolReport,
  name: string,
  { world, hosts }: PoolReport['worlds'][number],
  colors: Colors,
): string =>
  unknownWorlds.includes(world)
    ? colors.yellow(`${name}: is to keep ${world} loaded, which nobody has made`)
    : `${name}: keeps ${world} loaded on ${hosts}`;

const remarksOn = (pool: PoolReport, name: string, colors: Colors): string[] => {
  const { held, isLed, worlds } = pool;
  return [
    ...(isLed ? [] : [colors.yellow(`${name}: no orchestrator keeps it now`)]),
    ...(held === null ? [] : [colors.red(`${name}: launches none: ${held.trim()}`)]),
    ...worlds.map((world) => remarkOnWorld(pool, name, world, colors)),
  ];
};

/** The pools, and below what is to be said of single ones. */
export const describePools = (
  { pools, waitingSessions, longestWaitMs }: PoolsAnswer,
  view: View,
): string => {
  const { colors, room } = view;
  if (pools.length === 0) return 'no pools: no orchestrator has published any yet';
  const nameOf = namesOf(pools);
  const lines = pools.map((pool) => lineOf(pool, nameOf(pool)));
  const table = formatRows(head, lines, view);
  const waiting =
    waitingSessions === 0
      ? []
      : [
          colors.yellow(
            `${formatCount(waitingSessions, 'session')} without a host, the oldest for ${formatDuration(longestWaitMs)}`,
          ),
        ];
  const remarks = [...waiting, ...pools.flatMap((pool) => remarksOn(pool, nameOf(pool), colors))];
  if (remarks.length === 0) return table;
  const wrapped = remarks.flatMap((remark) => wrapLines(remark, room));
  return `${table}\n\n${wrapped.join('\n')}`;
};
