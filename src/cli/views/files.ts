/** Formats files, folders and connectors of a project for a person. */
import type { FileList } from '#wire/public-api/projects/file.ts';
import type { FileConnectorView, SyncAnswer } from '#wire/public-api/projects/file-connector.ts';
import type { Static } from '#wire/type.ts';
import type { View } from '../terminal/context.ts';
import { formatAgo, formatCount, formatFields } from '../terminal/print.ts';
import { formatFitted } from './fitted-table.ts';

const units = ['B', 'KiB', 'MiB', 'GiB'] as const;

/** Formats a size in a fitting binary unit. */
export const formatBytes = (bytes: number): string => {
  const step = bytes === 0 ? 0 : Math.min(Math.floor(Math.log2(bytes) / 10), units.length - 1);
  const value = bytes / 1024 ** step;
  return `${step === 0 ? value : value.toFixed(1)} ${units[step]}`;
};

/** Formats a page of a folder: folders first, with a slash. */
export const listFolder = ({ folders, files }: Static<typeof FileList>, view: View): string => {
  const lines = [
    ...folders.map((folder) => [
      ...[`${folder.name}/`, formatCount(folder.files, 'file'), 'folder'],
      formatAgo(folder.updatedAt),
    ]),
    ...files.map((file) => [
      ...[file.name, formatBytes(file.sizeBytes), file.contentType],
      formatAgo(file.updatedAt),
    ]),
  ];
  return formatFitted(['NAME', 'SIZE', 'TYPE', 'CHANGED'], lines, view, {
    none: 'this folder is empty; "svc files put" uploads files',
    cut: ['TYPE'],
  });
};

const syncedText = ({ lastSyncAt, lastStatus }: FileConnectorView): string =>
  lastSyncAt === null ? 'never' : `${lastStatus}, ${formatAgo(lastSyncAt)}`;

export const listConnectors = (connectors: readonly FileConnectorView[], view: View): string =>
  formatFitted(
    ['CONNECTOR', 'DIRECTION', 'FILES', 'PLACE', 'SYNCED'],
    connectors.map((one) => [
      ...[one.name, one.direction, `${one.targetPrefix}/`, one.location],
      syncedText(one),
    ]),
    view,
    { none: 'no file connectors; "svc files connectors create" makes one' },
  );

export const describeConnector = (one: FileConnectorView): string =>
  formatFields([
    ['connector', one.name],
    ['id', one.id],
    ['direction', one.direction],
    ['files', `${one.targetPrefix}/`],
    ['place', one.location],
    ['agents', one.agentAccess ? 'agents may sync it' : 'agents may not sync it'],
    ['keys', one.connectionId],
    ['synced', syncedText(one)],
  ]);

/** Formats the result of a sync, with the files that could not be copied. */
export const describeSync = ({ files, status, capture, warnings }: SyncAnswer): string =>
  [
    `${status}: ${formatCount(files, 'file')} (${formatBytes(capture.bytes)}) copied, ${capture.unchanged} unchanged` +
      (capture.failed > 0 ? `, ${capture.failed} failed` : '') +
      (capture.left > 0 ? `, ${capture.left} still to copy` : ''),
    ...warnings.map(({ path, message }) => `  ${path === '' ? '' : `${path}: `}${message}`),
  ].join('\n');
