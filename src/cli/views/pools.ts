/** Pools of world hosts as an operator reads them. */
import type { PoolReport } from '#wire/pool-api/operations.ts';
import type { Colors } from '../context.ts';
import { formatCount, formatDuration, formatTable } from '../print.ts';

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
  'MAX',
  'WARM',
  'BUSY',
  'COMING',
  'GOING',
];

const lineOf = (pool: PoolReport): string[] => {
  const { starting, warm, assigned, recycling, draining } = pool.hosts;
  const counts = [pool.target, pool.maximum, warm, assigned, starting + recycling, draining];
  return [pool.name, pool.tier ?? 'both', pool.isolation, pool.size, ...counts.map(String)];
};

const remarkOnWorld = (
  { name, unknownWorlds }: PoolReport,
  { world, hosts }: PoolReport['worlds'][number],
  colors: Colors,
): string =>
  unknownWorlds.includes(world)
    ? colors.yellow(`${name}: is to keep ${world} loaded, which nobody has made`)
    : `${name}: keeps ${world} loaded on ${hosts}`;

const remarksOn = (pool: PoolReport, colors: Colors): string[] => {
  const { name, held, isLed, worlds } = pool;
  return [
    ...(isLed ? [] : [colors.yellow(`${name}: no orchestrator keeps it now`)]),
    ...(held === null ? [] : [colors.red(`${name}: launches none: ${held}`)]),
    ...worlds.map((world) => remarkOnWorld(pool, world, colors)),
  ];
};

/** One pool a line, and below what is to be said of single ones. */
export const describePools = (
  { pools, waitingSessions, longestWaitMs }: PoolsAnswer,
  colors: Colors,
): string => {
  if (pools.length === 0) return 'no pools: no orchestrator has published any yet';
  const table = formatTable([head.map(colors.dim), ...pools.map(lineOf)]);
  const waiting =
    waitingSessions === 0
      ? []
      : [
          colors.yellow(
            `${formatCount(waitingSessions, 'session')} without a host, the oldest for ${formatDuration(longestWaitMs)}`,
          ),
        ];
  const remarks = [...waiting, ...pools.flatMap((pool) => remarksOn(pool, colors))];
  return remarks.length === 0 ? table : `${table}\n\n${remarks.join('\n')}`;
};
