/** Formats versions of worlds for a person. */
import type { PushView, VersionChanges, VersionListView } from '#wire/public-api/worlds/version.ts';
import type { View } from '../terminal/context.ts';
import { cutLine, formatAgo, formatCount, formatFields } from '../terminal/print.ts';
import { formatFitted } from './fitted-table.ts';
import { warningLines } from './warnings.ts';

const partsOf = (counts: VersionChanges['files']): string =>
  (['added', 'changed', 'removed'] as const)
    .filter((what) => counts[what] > 0)
    .map((what) => `${counts[what]} ${what}`)
    .join(', ');

const rowsText = ({ before, after }: VersionChanges['rows']): string =>
  before === after ? '' : `rows ${before} to ${after}`;

/** Formats the changes of a version: `files: 2 changed; entities: 1 added; rows 3 to 5`. */
export const changesText = (changes: VersionChanges | null): string => {
  if (changes === null) return '-';
  const { files, entities, rows } = changes;
  if (changes.base === null) {
    return `${formatCount(files.added, 'file')}, ${formatCount(rows.after, 'row')}`;
  }
  const fileText = partsOf(files);
  const entityText = partsOf({
    added: entities.added.length,
    changed: entities.changed.length,
    removed: entities.removed.length,
  });
  const texts = [
    fileText === '' ? '' : `files: ${fileText}`,
    entityText === '' ? '' : `entities: ${entityText}`,
    rowsText(rows),
  ].filter((text) => text !== '');
  return texts.join('; ') || '-';
};

/**
 * Formats the versions of a world. A narrow table has no column for the ids, because a version is named by its number.
 */
export const listVersions = (versions: readonly VersionListView[], view: View): string =>
  formatFitted(
    ['VERSION', 'ID', 'GATE', 'BY', 'WHEN', 'AUTHOR', 'CHANGES', 'LABELS', 'MESSAGE'],
    versions.map((version) => [
      ...[String(version.number), version.id, version.gate ?? '-', version.origin],
      formatAgo(version.createdAt),
      version.author ?? '-',
      changesText(version.changes),
      version.labels.join(', ') || '-',
      cutLine(version.message ?? ''),
    ]),
    view,
    { leftOut: ['AUTHOR', 'ID'], cut: ['MESSAGE', 'CHANGES'] },
  );

/** Texts for the states of the gate; each completes a sentence about a version. */
const stands: Readonly<Record<NonNullable<PushView['gate']>, string>> = {
  waiting: 'waits for its tests',
  passed: 'passed its tests',
  failed: 'failed its tests',
  outdated: 'passed its tests when another version was the head',
};

type PushResult = { answer: PushView; sentFiles: number; sentBytes: number };

const keptText = ({ keptRows, leftOutRows }: PushView): string | undefined => {
  if (keptRows === 0) return undefined;
  const kept = `${formatCount(keptRows, 'row')} that did not come from a tree`;
  if (leftOutRows === 0) return kept;
  return `${kept}, ${leftOutRows} of them replacing rows of the tree with the same key`;
};

/** Formats the state of a pushed version at the gate; undefined if it needs no gate. */
const gateText = ({ gate }: PushView): string | undefined =>
  gate === 'waiting' ? 'its tests run; it becomes the head when they pass' : (gate ?? undefined);

/** Formats the result of a push. */
export const describePush = ({ answer, sentFiles, sentBytes }: PushResult, view: View): string => {
  const { slug, number, id } = answer;
  const warnings = warningLines(answer.warnings, view);
  if (!answer.changed) {
    const gate = answer.gate === null ? '' : `, and ${stands[answer.gate]}`;
    const same = `nothing changed: version ${number} of ${slug} equals this tree${gate}`;
    return [same, ...warnings].join('\n');
  }
  const isWaiting = answer.gate === 'waiting';
  const facts = formatFields([
    ['world', slug],
    ['version', `${number} (${id})`],
    ['message', answer.message],
    ['gate', gateText(answer)],
    ['changes', changesText(answer.changes)],
    ['see', isWaiting ? `svc worlds versions ${slug}` : undefined],
    ['again', isWaiting ? `svc worlds test ${slug}@${number}` : undefined],
    ['kept', keptText(answer)],
    ['sent', `${formatCount(sentFiles, 'file')}, ${formatCount(sentBytes, 'byte')}`],
  ]);
  return [facts, ...warnings].join('\n');
};

type PullResult = {
  slug: string;
  folder: string;
  number: number;
  written: readonly string[];
  removed: readonly string[];
  /** Files of rows that were written; absent if the command did not request any. */
  rows?: readonly string[];
};

/** Formats the effect of a pull on a folder. */
export const describePull = ({ rows = [], ...pulled }: PullResult): string => {
  const { slug, folder, number, written, removed } = pulled;
  const done = `${folder} contains version ${number} of ${slug}`;
  if (written.length + removed.length + rows.length === 0) return `${done} already`;
  return [
    ...[...written, ...rows].map((path) => `  wrote   ${path}`),
    ...removed.map((path) => `  removed ${path}`),
    done,
  ].join('\n');
};
