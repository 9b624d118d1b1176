/** Formats imports of rows for a person: rejected rows with file and line, batches, and results. */

import type { ShapeCounts } from '#data/formats/shape-rows.ts';
import type { BatchListView, BatchView, RefusalView } from '#wire/public-api/worlds/data.ts';
import type { VersionDetail } from '#wire/public-api/worlds/version.ts';
import type { View } from '../terminal/context.ts';
import { cutLine, formatAgo, formatCount, formatFields, formatTable } from '../terminal/print.ts';
import { formatFitted } from './fitted-table.ts';

/** Rejected row, with its place in the user's files. */
export type ShownRefusal = {
  /** Place of the row, such as `contacts.csv:7`; undefined if it is unknown. */
  place: string | undefined;
  entity: string | null;
  field: string | null;
  detail: string;
};

export const mostShown = 20;
const detailChars = 160;

const subjectOf = ({ entity, field }: ShownRefusal): string =>
  [entity, field].filter((part) => part !== null && part !== '').join('.');

/** Formats rejected rows, each on a line, and the number of further ones. */
export const describeRefusals = (refusals: readonly ShownRefusal[], total: number): string => {
  const shown = refusals.slice(0, mostShown);
  const table = formatTable(
    shown.map((refusal) => [
      `  ${refusal.place ?? '-'}`,
      subjectOf(refusal),
      cutLine(refusal.detail, detailChars),
    ]),
  );
  const more = total - shown.length;
  return more > 0 ? `${table}\n  and ${more.toLocaleString('en-US')} more` : table;
};

const keyText = (key: RefusalView['primaryKey']): string | undefined =>
  key === null ? undefined : JSON.stringify(key);

/** Converts a rejected row that the service reports. If its file is unknown, chunk, row and key identify it. */
export const showRefusal = (refusal: RefusalView, place: string | undefined): ShownRefusal => {
  const { chunk, index, entity, field, primaryKey, pointer, detail } = refusal;
  const ofChunk = index === null ? `chunk ${chunk}` : `chunk ${chunk}, row ${index}`;
  const known = place ?? (chunk === null ? undefined : ofChunk);
  const inner = pointer?.startsWith(`/${field}/`) === true ? `${pointer.slice(1)} ` : '';
  const key = place === undefined ? keyText(primaryKey) : undefined;
  return {
    place: known,
    entity,
    field,
    detail: `${inner}${detail}${key === undefined ? '' : ` (${key})`}`,
  };
};

const countsText = (counts: Record<string, number> | null): string | undefined =>
  counts === null
    ? undefined
    : Object.entries(counts)
        .filter(([, count]) => count > 0)
        .map(([entity, count]) => `${entity} ${count.toLocaleString('en-US')}`)
        .join(', ') || 'none';

type Made = {
  slug: string;
  version: Pick<VersionDetail, 'number' | 'id' | 'entityCounts' | 'message'>;
  landed: Record<string, number> | null;
  refused: number;
};

/** Formats the result of an import. */
export const describeImport = ({ slug, version, landed, refused }: Made): string =>
  formatFields([
    ['world', slug],
    ['version', `${version.number} (${version.id})`],
    ['message', version.message],
    ['imported', countsText(landed)],
    ['rows', countsText(version.entityCounts)],
    ['left out', refused === 0 ? undefined : formatCount(refused, 'row')],
  ]);

/** Formats bytes in decimal units: `14.2 MB`. */
export const formatBytes = (bytes: number): string => {
  if (bytes < 1_000) return formatCount(bytes, 'byte');
  if (bytes < 1_000_000) return `${(bytes / 1_000).toFixed(1)} kB`;
  if (bytes < 1_000_000_000) return `${(bytes / 1_000_000).toFixed(1)} MB`;
  return `${(bytes / 1_000_000_000).toFixed(2)} GB`;
};

/** Formats the batches of a world, newest first. */
export const listBatchesText = (batches: readonly BatchListView[], view: View): string =>
  formatFitted(
    ['BATCH', 'STATE', 'MODE', 'ROWS', 'REFUSED', 'SENT', 'WHEN', 'MESSAGE'],
    batches.map((batch) => [
      batch.batchId,
      batch.dryRun ? `${batch.state} (dry run)` : batch.state,
      batch.mode,
      batch.rowCount.toLocaleString('en-US'),
      batch.refused === 0 ? '-' : batch.refused.toLocaleString('en-US'),
      formatBytes(batch.bytes),
      formatAgo(batch.createdAt),
      cutLine(batch.message ?? ''),
    ]),
    view,
    {
      none: 'no batches yet: svc worlds data import <world> <file>',
      leftOut: ['SENT', 'MODE'],
      cut: ['MESSAGE'],
    },
  );

/** Formats one batch, with the first of its rejected rows. */
export const describeBatch = (batch: BatchView): string => {
  const { progress, refusals, refused } = batch;
  const isUnderWay = batch.state === 'validating' || batch.state === 'applying';
  const fields = formatFields([
    ['batch', batch.batchId],
    ['state', batch.dryRun ? `${batch.state} (dry run)` : batch.state],
    ['mode', batch.mode],
    ['redact', batch.redact],
    ['atomic', batch.atomic ? 'yes' : 'no'],
    ['publish', batch.publish],
    ['message', batch.message],
    ['chunks', `${batch.chunkCount}, ${formatBytes(batch.bytes)}`],
    ['rows', batch.rowCount.toLocaleString('en-US')],
    [
      'progress',
      isUnderWay &&
        `${progress.phase}: ${progress.validatedChunks} chunks validated, ${formatCount(progress.appliedRows, 'row')} applied`,
    ],
    ['imported', countsText(batch.landed)],
    ['refused', refused === 0 ? undefined : formatCount(refused, 'row')],
    ['version', batch.versionId],
    ['error', batch.error?.message],
    ['created', `${batch.createdAt} (${formatAgo(batch.createdAt)})`],
  ]);
  if (refused === 0) return fields;
  const shown = refusals.map((refusal) => showRefusal(refusal, undefined));
  return `${fields}\n\n${describeRefusals(shown, refused)}`;
};

const barCells = 24;

/** Formats a progress bar: `[######------------------] 25 %`. */
export const formatBar = (part: number): string => {
  const full = Math.floor(Math.min(1, Math.max(0, part)) * barCells);
  return `[${'#'.repeat(full)}${'-'.repeat(barCells - full)}] ${Math.floor(Math.min(1, part) * 100)} %`;
};

export type Extracted = ShapeCounts & { unknown: readonly string[]; valuesLost: number };

/** Formats how many rows an extract read and wrote, and which values it left out. */
export const describeExtract = (
  { read, rows, unknownFields, unknown, redacted, valuesLost }: Extracted,
  isRedacted: boolean,
): string => {
  const named = unknown.length === 0 ? '' : ` (${unknown.join(', ')})`;
  const count = (number: number): string => number.toLocaleString('en-US');
  const { dropped, hashed, preserved, rounded } = redacted;
  const done = isRedacted
    ? `redacted: ${count(dropped)} dropped, ${count(hashed)} hashed, ${count(preserved)} preserved, ${count(rounded)} rounded`
    : 'nothing redacted';
  return [
    `read ${count(read)}, rows ${count(rows)}, unknown fields ${count(unknownFields)}${named}, ${done}`,
    ...(valuesLost === 0
      ? []
      : [
          `${formatCount(valuesLost, 'value')} look like other values in CSV; write JSONL to distinguish them`,
        ]),
  ].join('\n');
};
