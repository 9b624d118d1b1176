/** `svc worlds connector`: commands for the files of worlds: capture, serve from a folder, publish, list. */
import type { Command } from 'commander';
import type { Context } from '../terminal/context.ts';
import { addGroups, group } from './groups.ts';

/** Groups of commands, in the order of the help. */
const groups = [
  group('publish', async () => (await import('./connector-publish.ts')).addConnectorPublish),
  group('list', async () => (await import('./connector-publish.ts')).addConnectorList),
  group('versions', async () => (await import('./connector-publish.ts')).addConnectorVersions),
  group('serve', async () => (await import('./connector-serve.ts')).addConnectorServe),
  group('draft', async () => (await import('./connector-draft.ts')).addConnectorDraft),
  group('capture', async () => (await import('./connector-capture.ts')).addConnectorCapture),
  group('record', async () => (await import('./connector-record.ts')).addConnectorRecord),
  group('conform', async () => (await import('./connector-conform.ts')).addConnectorConform),
];

export const addConnectors = async (
  worlds: Command,
  context: Context,
  words: readonly string[],
): Promise<void> => {
  const connector = worlds
    .command('connector')
    .description(
      'connectors: files of worlds, captured from a vendor, served while you write them, shared in the organization',
    );
  await addGroups(connector, context, groups, words);
};
