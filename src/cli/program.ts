/** Assembles the `svc` program from its commands, and runs it on the words of a command line. */
import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import { decides } from './commands/command.ts';
import { addGroups, group } from './commands/groups.ts';
import type { Context } from './terminal/context.ts';
import { exitStatus, reportError, usageError } from './views/report.ts';

const guide = `
Where the service is, and who you are there:
  SVC_URL, SVC_PUBLIC_KEY, SVC_SECRET_KEY   or else the credentials file of "svc up", found
  through --data, SVC_DATA, or a .svc folder here or above
As whom accounts are managed (orgs, projects, keys, tokens, settings):
  SVC_API_TOKEN, or SVC_ORGANIZATION_PUBLIC_KEY and SVC_ORGANIZATION_SECRET_KEY, or that file

Start here:
  $ svc demo
  $ svc up`;

const readRelease = (): string => {
  const manifest = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(manifest) as { version: string }).version;
};

/** Groups of commands, in the order of the help. */
const groups = [
  group('up', async () => (await import('./commands/up.ts')).addUp),
  group('worlds', async () => (await import('./commands/worlds.ts')).addWorlds),
  group('traces observations', async () => (await import('./commands/traces.ts')).addTraces),
  group('scores', async () => (await import('./commands/scores.ts')).addScores),
  group('metrics', async () => (await import('./commands/metrics.ts')).addMetrics),
  group('models', async () => (await import('./commands/models.ts')).addModels),
  group('users', async () => (await import('./commands/users.ts')).addUsers),
  group('comments', async () => (await import('./commands/users.ts')).addComments),
  group('datasets', async () => (await import('./commands/datasets.ts')).addDatasets),
  group('queues', async () => (await import('./commands/queues.ts')).addQueues),
  group('context', async () => (await import('./commands/context.ts')).addContext),
  group('prompts', async () => (await import('./commands/prompts.ts')).addPrompts),
  group(
    'dashboards task-sets',
    async () => (await import('./commands/dashboards.ts')).addDashboards,
  ),
  group('files', async () => (await import('./commands/files.ts')).addFiles),
  group('media', async () => (await import('./commands/media.ts')).addMedia),
  group('release', async () => (await import('./commands/release.ts')).addRelease),
  group('orgs', async () => (await import('./commands/orgs.ts')).addOrgs),
  group('projects', async () => (await import('./commands/projects.ts')).addProjects),
  group('keys', async () => (await import('./commands/keys.ts')).addKeys),
  group('tokens', async () => (await import('./commands/tokens.ts')).addTokens),
  group('settings', async () => {
    const { addSettingsTo } = await import('./commands/settings.ts');
    return (program, context) => addSettingsTo(program, context, 'svc settings');
  }),
  group('pools', async () => (await import('./commands/pools.ts')).addPools),
  group('admin', async () => (await import('./commands/admin.ts')).addAdmin),
  group('demo', async () => (await import('./commands/demo.ts')).addDemo),
  group('completion', async () => (await import('./commands/completion.ts')).addCompletion),
];

/** Returns the words that select which groups to load. `completion` needs all groups. */
const loadedBy = (words: readonly string[]): readonly string[] =>
  words[0] === 'completion' ? [] : words;

/**
 * Creates the program for a context. It has at least the commands that the words of a command line name; without words,
 * it has all commands. It never exits the process.
 */
export const createProgram = async (
  context: Context,
  words: readonly string[],
): Promise<Command> => {
  const program = new Command('svc')
    .description('simulated replicas of services, on which AI agents act')
    .version(readRelease())
    .enablePositionalOptions()
    .exitOverride()
    .showHelpAfterError('(add --help to see how it is used)')
    .configureOutput({
      writeOut: (text) => context.out.write(text),
      writeErr: (text) => {
        context.setExitStatus(exitStatus.failed);
        context.err.write(text);
      },
      getOutHelpWidth: () => context.out.columns,
      getErrHelpWidth: () => context.err.columns,
      getOutHasColors: () => context.colors.isColorSupported,
      getErrHasColors: () => false,
    })
    .addHelpText('after', guide)
    .hook('preAction', (_program, command) => {
      refuseEmpty(command);
      if (decides(command)) context.setExitStatus(exitStatus.failed);
    });
  await addGroups(program, context, groups, loadedBy(words));
  return program;
};

/** Names of arguments that are values rather than names of objects. */
const mayBeEmpty = ['answer', 'content', 'prompt', 'text', 'value'];

/**
 * Rejects an empty argument, for example from an unset variable (`"$UNSET"`). The command would read an empty name as
 * the current folder, or as a request for a list.
 */
const refuseEmpty = (command: Command): void => {
  for (const [index, argument] of command.registeredArguments.entries()) {
    const isEmpty = [command.args[index]].includes('');
    if (isEmpty && !mayBeEmpty.includes(argument.name())) {
      throw usageError(`<${argument.name()}> is empty: is a shell variable not set?`);
    }
  }
};

/** Rejects words after `svc --version`, because an option of the program must not hide a command. */
const refuseBehindVersion = ([first = '', ...rest]: readonly string[]): void => {
  if (!['--version', '-V'].includes(first) || rest.length === 0) return;
  throw usageError(
    `${first} before a command is an option of svc itself, and cannot be followed by a command`,
  );
};

/** Turns `svc help a b` into `svc a b --help`, because commander's help command reads only the first word. */
const readHelp = (words: readonly string[]): string[] =>
  words[0] === 'help' && words.length > 2 ? [...words.slice(1), '--help'] : [...words];

/** Runs one command line (without `node` and the file) and returns the exit status. */
export const runCommandLine = async (
  words: readonly string[],
  context: Context,
): Promise<number> => {
  try {
    refuseBehindVersion(words);
    const program = await createProgram(context, words);
    await program.parseAsync(readHelp(words), { from: 'user' });
    return exitStatus.done;
  } catch (error) {
    return reportError(context, error, { json: words.includes('--json') });
  }
};
