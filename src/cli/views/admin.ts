/** Formats pools, world hosts and the checks of an installation for an operator. */
import type { Static } from 'typebox';
import { makeVisible } from '#domain/visible-text.ts';
import type {
  AdminHost,
  AdminImport,
  CollectionView,
  DoctorCheck,
  drainHosts,
  PoolReport,
} from '#wire/admin-api/operations.ts';
import { betweenColors } from '../terminal/colors.ts';
import type { Colors, View } from '../terminal/context.ts';
import {
  cutLine,
  formatAgo,
  formatCount,
  formatDuration,
  formatTable,
  wrapLines,
} from '../terminal/print.ts';
import { formatFitted } from './fitted-table.ts';

type PoolsAnswer = {
  pools: readonly PoolReport[];
  waitingSessions: number;
  longestWaitMs: number;
};

const poolHead = [
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

/** Returns a function that formats the name of a pool, with its installation if there are several. */
const namesOf = (pools: readonly PoolReport[]): ((pool: PoolReport) => string) =>
  new Set(pools.map(({ installation }) => installation)).size > 1
    ? ({ installation, name }) => `${installation}/${name}`
    : ({ name }) => name;

const poolLine = (pool: PoolReport, name: string): string[] => {
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
    ? colors.yellow(`${name}: has to preload ${world}, but there is no such world`)
    : `${name}: preloads ${world} on ${hosts}`;

const remarksOn = (pool: PoolReport, name: string, colors: Colors): string[] => {
  const { held, isLed, worlds } = pool;
  return [
    ...(isLed ? [] : [colors.yellow(`${name}: no orchestrator manages it at present`)]),
    ...(held === null ? [] : [colors.red(`${name}: launches no hosts: ${held.trim()}`)]),
    ...worlds.map((world) => remarkOnWorld(pool, name, world, colors)),
  ].map((remark) => betweenColors(remark, makeVisible));
};

/** Formats the pools as a table, with remarks about single pools below. */
export const describePools = (
  { pools, waitingSessions, longestWaitMs }: PoolsAnswer,
  view: View,
): string => {
  const { colors, columns } = view;
  if (pools.length === 0) return 'no pools: no orchestrator has published any yet';
  const nameOf = namesOf(pools);
  const lines = pools.map((pool) => poolLine(pool, nameOf(pool)));
  const table = formatFitted(poolHead, lines, view);
  const waiting =
    waitingSessions === 0
      ? []
      : [
          colors.yellow(
            `${formatCount(waitingSessions, 'session')} waiting for a host, the oldest for ${formatDuration(longestWaitMs)}`,
          ),
        ];
  const remarks = [...waiting, ...pools.flatMap((pool) => remarksOn(pool, nameOf(pool), colors))];
  if (remarks.length === 0) return table;
  const wrapped = remarks.flatMap((remark) => wrapLines(remark, columns));
  return `${table}\n\n${wrapped.join('\n')}`;
};

const hostHead = [
  'HOST',
  'POOL',
  'STATE',
  'FOR',
  'AGE',
  'SILENT',
  'MEMORY',
  'USES',
  'SESSION',
  'WORLD',
  'WHY',
];
const mib = 2 ** 20;

const durationOf = (ms: number | null): string => (ms === null ? '-' : formatDuration(ms));

const whyOf = ({ endReason, endDetail }: AdminHost): string =>
  cutLine([endReason, endDetail].filter((part) => part !== null).join(': '));

/** Formats a host's world as `organization/project/slug@version`. */
const worldOf = ({ world, versionNumber }: AdminHost): string =>
  world === null ? '-' : `${world}@${versionNumber}`;

const hostLine = (host: AdminHost): string[] => [
  host.id,
  host.pool,
  host.state,
  durationOf(host.stateAgeMs),
  durationOf(host.ageMs),
  host.state === 'gone' ? '-' : durationOf(host.silentMs),
  host.rssBytes === null ? '-' : `${Math.round(host.rssBytes / mib)} MiB`,
  String(host.uses),
  host.sessionId ?? '-',
  worldOf(host),
  whyOf(host),
];

/** Formats hosts, and their total number if not all are shown. */
export const describeHosts = (
  { hosts, total }: { hosts: readonly AdminHost[]; total: number },
  view: View,
): string => {
  if (hosts.length === 0) return 'no such hosts';
  const text = formatFitted(hostHead, hosts.map(hostLine), view);
  return hosts.length === total
    ? text
    : `${text}\n\n${hosts.length} of ${formatCount(total, 'host')}; --limit shows more`;
};

type Drained = Static<(typeof drainHosts)['answers'][200]>;

/** Formats the hosts that were drained, and the hosts that were not drained because they serve a session. */
export const describeDrained = ({ drained, kept }: Drained): string => {
  if (drained.length + kept.length === 0) return 'no host was drained: none is in service';
  const lines = [`${formatCount(drained.length, 'host')} drained`, ...drained];
  if (kept.length === 0) return lines.join('\n');
  const serving = `${formatCount(kept.length, 'host')} not drained, because a session is on each`;
  return [...lines, serving, ...kept].join('\n');
};

/** Formats the blobs that will be collected. */
export const describeCollection = (collection: CollectionView, view: View): string => {
  const { blobs, bytes, isLowerBound, worlds, totalWorlds, graceMinutes, place } = collection;
  const orMore = isLowerBound ? ' or more' : '';
  const summary = `${formatCount(blobs, 'blob')}${orMore}, ${formatCount(bytes, 'byte')}, in ${place}: only deleted worlds and abandoned uploads refer to them`;
  const rule = `the data of a deleted world is kept for ${formatCount(graceMinutes, 'minute')} (SVC_DELETED_GRACE_MINUTES), and while one of its sessions is open or a host has it loaded`;
  const said = [summary, rule].flatMap((text) => wrapLines(text, view.columns));
  if (worlds.length === 0) return said.join('\n');
  const left = totalWorlds - worlds.length;
  const table = formatFitted(
    ['WORLD', 'DELETED', 'KEPT UNTIL'],
    worlds.map(({ world, deletedAt, keptUntil }) => [world, formatAgo(deletedAt), keptUntil]),
    view,
  );
  return [...said, table, ...(left > 0 ? [`and ${left} more`] : [])].join('\n');
};

/** Columns that the mark and the gaps of a line take, in addition to the name of the check. */
const markWidth = 1;
const gaps = 4;

const markOf = (status: DoctorCheck['status'], colors: Colors): string => {
  if (status === 'ok') return colors.green('✓');
  return status === 'warning' ? colors.yellow('!') : colors.red('✗');
};

/** Formats each check on a line, with the fix below a failed one, and a summary at the end. */
export const describeChecks = (
  checks: readonly DoctorCheck[],
  { colors, columns }: View,
): string => {
  const names = Math.max(0, ...checks.map(({ name }) => name.length));
  const rest = columns - (markWidth + names + gaps);
  const lines = checks.flatMap(({ name, status, message, fix }) => {
    const [first = '', ...more] = wrapLines(message, rest);
    const wayOut = fix === null ? [] : wrapLines(`→ ${fix}`, rest).map(colors.dim);
    return [
      [markOf(status, colors), name, first],
      ...[...more, ...wayOut].map((line) => ['', '', line]),
    ];
  });
  const well = checks.filter(({ status }) => status === 'ok').length;
  return `${formatTable(lines)}\n\n${well} of ${checks.length} checks passed`;
};

type ImportsAnswer = { imports: readonly AdminImport[]; total: number };

const importLine = (job: AdminImport): string[] => {
  const { id, world, kind, ageMs, chunks, validatedChunks, attempts, leaseMs } = job;
  const state = leaseMs !== null && leaseMs < 0 ? `${job.state}, worker gone` : job.state;
  const rows = `${job.appliedRows} of ${job.rows}`;
  const checked = `${validatedChunks} of ${chunks}`;
  return [id, world, kind, state, formatDuration(ageMs), checked, rows, String(attempts)];
};

const importHead = ['BATCH', 'WORLD', 'KIND', 'STATE', 'AGE', 'CHUNKS', 'ROWS', 'TRIES'];

/** Formats imports that have not ended. */
export const describeImports = ({ imports, total }: ImportsAnswer, view: View): string => {
  if (imports.length === 0) return 'no import is queued or in progress';
  const text = formatFitted(importHead, imports.map(importLine), view);
  return imports.length === total
    ? text
    : `${text}\n\n${imports.length} of ${formatCount(total, 'import')}`;
};
