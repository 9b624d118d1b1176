/** Formats connectors of an organization for a person. */
import type { ConnectorVersionView, ConnectorView } from '#wire/public-api/projects/connector.ts';
import type { View } from '../terminal/context.ts';
import { cutLine, formatAgo, formatCount, formatFields } from '../terminal/print.ts';
import { formatFitted } from './fitted-table.ts';

/** Formats connectors, one a line. */
export const connectorsText = (connectors: readonly ConnectorView[], view: View): string =>
  formatFitted(
    ['FROM', 'VERSION', 'NAME', 'PUBLISHED', 'BY', 'DESCRIPTION'],
    connectors.map(({ from, name, description, latest }) => [
      from,
      String(latest.number),
      name,
      formatAgo(latest.createdAt),
      latest.project,
      cutLine(description),
    ]),
    view,
    {
      none: 'no connectors are published; publish one with svc worlds connector publish <slug> <folder>',
      cut: ['DESCRIPTION', 'NAME'],
    },
  );

/** Formats the versions of a connector, one a line. */
export const connectorVersionsText = (
  versions: readonly ConnectorVersionView[],
  view: View,
): string =>
  formatFitted(
    ['VERSION', 'PUBLISHED', 'BY', 'AUTHOR', 'BYTES', 'MESSAGE'],
    versions.map(({ number, createdAt, project, author, sizeBytes, message }) => [
      String(number),
      formatAgo(createdAt),
      project,
      author,
      String(sizeBytes),
      cutLine(message ?? ''),
    ]),
    view,
    { cut: ['AUTHOR', 'MESSAGE'] },
  );

/** Formats the result of a publication. */
export const describePublished = ({
  from,
  latest,
  changed,
}: ConnectorView & { changed: boolean }): string => {
  if (!changed) return `nothing changed: ${from}@${latest.number} already has these files`;
  return formatFields([
    ['connector', `${from}@${latest.number}`],
    ['message', latest.message],
    ['size', formatCount(latest.sizeBytes, 'byte')],
  ]);
};
