/** `svc worlds`: the group of all commands about worlds and their sessions. */
import type { Command } from 'commander';
import type { Context } from '../terminal/context.ts';
import { addGroups, group } from './groups.ts';

/** Groups of commands, in the order of the help. */
const groups = [
  group('data', async () => (await import('./data.ts')).addData),
  group('create', async () => (await import('./worlds-create.ts')).addWorldsCreate),
  group('list', async () => (await import('./worlds-look.ts')).addWorldsList),
  group('describe', async () => (await import('./worlds-look.ts')).addWorldsDescribe),
  group('push', async () => (await import('./worlds-push.ts')).addWorldsPush),
  group('pull', async () => (await import('./worlds-pull.ts')).addWorldsPull),
  group('diff', async () => (await import('./worlds-diff.ts')).addWorldsDiff),
  group('pin', async () => (await import('./worlds-pin.ts')).addWorldsPin),
  group(
    'destinations',
    async () => (await import('./worlds-destinations.ts')).addWorldsDestinations,
  ),
  group('branch', async () => (await import('./worlds-branch.ts')).addWorldsBranch),
  group('rename', async () => (await import('./worlds-rename.ts')).addWorldsRename),
  group('archive delete', async () => (await import('./worlds-end.ts')).addWorldsEnd),
  group('task', async () => (await import('./tasks.ts')).addTasks),
  group('versions', async () => (await import('./worlds-versions.ts')).addWorldsVersions),
  group('test', async () => (await import('./worlds-test.ts')).addWorldsTest),
  group('templates', async () => (await import('./worlds-look.ts')).addWorldsTemplates),
  group('requests', async () => (await import('./worlds-look.ts')).addWorldsRequests),
  group('connector', async () => (await import('./connectors.ts')).addConnectors),
  group('schema', async () => (await import('./schema.ts')).addSchema),
  group('session', async () => (await import('./sessions.ts')).addSessions),
];

export const addWorlds = async (
  program: Command,
  context: Context,
  words: readonly string[],
): Promise<void> => {
  const worlds = program
    .command('worlds')
    .description('worlds: create, inspect, test; open sessions');
  await addGroups(worlds, context, groups, words);
};
