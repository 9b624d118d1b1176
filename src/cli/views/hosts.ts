/** World hosts as an operator reads them. */
import type { Static } from 'typebox';
import type { AdminHost, drainHosts } from '#wire/admin-api/operations.ts';
import { cutLine, formatCount, formatDuration } from '../print.ts';
import { formatRows, type View } from './rows.ts';

const head = [
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
const whyLength = 60;
const mib = 2 ** 20;

const durationOf = (ms: number | null): string => (ms === null ? '-' : formatDuration(ms));

const whyOf = ({ endReason, endDetail }: AdminHost): string =>
  cutLine([endReason, endDetail].filter((part) => part !== null).join(': '), whyLength);

/** `organization/project/slug@version` */
const worldOf = ({ world, versionNumber }: AdminHost): string =>
  world === null ? '-' : `${world}@${versionNumber}`;

const lineOf = (host: AdminHost): string[] => [
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

/** Hosts, and how many there are when not all are shown. */
export const describeHosts = (
  { hosts, total }: { hosts: readonly AdminHost[]; total: number },
  view: View,
): string => {
  if (hosts.length === 0) return 'no such hosts';
  const text = formatRows(head, hosts.map(lineOf), view);
  return hosts.length === total
    ? text
    : `${text}\n\n${hosts.length} of ${formatCount(total, 'host')}; --limit shows more`;
};

type Drained = Static<(typeof drainHosts)['answers'][200]>;

/** What became of the hosts that were to be drained. */
export const describeDrained = ({ drained, kept }: Drained): string => {
  if (drained.length + kept.length === 0) return 'no host drained: none is in service any more';
  const lines = [`${formatCount(drained.length, 'host')} drained`, ...drained];
  if (kept.length === 0) return lines.join('\n');
  const serving = `${formatCount(kept.length, 'host')} kept: a session is on each`;
  return [...lines, serving, ...kept].join('\n');
};
