/** Connectors of an organization as a person reads them. */
import type { ConnectorVersionView, ConnectorView } from '#wire/public-api/connector.ts';
import type { Colors } from '../terminal/context.ts';
import { cutLine, formatAgo, formatCount, formatFields, formatTable } from '../terminal/print.ts';

const textChars = 60;

/** The connectors, one a line. */
export const connectorsText = (connectors: readonly ConnectorView[], colors: Colors): string =>
  connectors.length === 0
    ? 'no connector is published yet: svc worlds connector publish <slug> <folder>'
    : formatTable([
        ['FROM', 'VERSION', 'NAME', 'PUBLISHED', 'BY', 'DESCRIPTION'].map(colors.dim),
        ...connectors.map(({ from, name, description, latest }) => [
          from,
          String(latest.number),
          name,
          formatAgo(latest.createdAt),
          latest.project,
          cutLine(description, textChars),
        ]),
      ]);

/** The versions of a connector, one a line. */
export const connectorVersionsText = (
  versions: readonly ConnectorVersionView[],
  colors: Colors,
): string =>
  formatTable([
    ['VERSION', 'PUBLISHED', 'BY', 'AUTHOR', 'BYTES', 'MESSAGE'].map(colors.dim),
    ...versions.map(({ number, createdAt, project, author, sizeBytes, message }) => [
      String(number),
      formatAgo(createdAt),
      project,
      author,
      String(sizeBytes),
      cutLine(message ?? '', textChars),
    ]),
  ]);

/** What came of publishing. */
export const describePublished = ({
  from,
  latest,
  changed,
}: ConnectorView & { changed: boolean }): string => {
  if (!changed) return `nothing changed: ${from}@${latest.number} has these files`;
  return formatFields([
    ['connector', `${from}@${latest.number}`],
    ['message', latest.message],
    ['size', formatCount(latest.sizeBytes, 'byte')],
  ]);
};
