/** Assembles the `svc` program from its commands, and runs it on the words of a command line. */
import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import { addAdmin } from './commands/admin.ts';
import { addCompletion } from './commands/completion.ts';
import { addContext } from './commands/context.ts';
import { addDashboards } from './commands/dashboards.ts';
import { addDatasets } from './commands/datasets.ts';
import { addDemo } from './commands/demo.ts';
import { addFiles } from './commands/files.ts';
import { addKeys } from './commands/keys.ts';
import { addMedia } from './commands/media.ts';
import { addMetrics } from './commands/metrics.ts';
import { addModels } from './commands/models.ts';
import { addOrgs } from './commands/orgs.ts';
import { addPools } from './commands/pools.ts';
import { addProjects } from './commands/projects.ts';
import { addPrompts } from './commands/prompts.ts';
import { addQueues } from './commands/queues.ts';
import { addRelease } from './commands/release.ts';
import { addScores } from './commands/scores.ts';
import { addSettingsTo } from './commands/settings.ts';
import { addTokens } from './commands/tokens.ts';
import { addTraces } from './commands/traces.ts';
import { addUp } from './commands/up.ts';
import { addComments, addUsers } from './commands/users.ts';
import { addWorlds } from './commands/worlds.ts';
import type { Context } from './terminal/context.ts';
import { exitStatus, reportError } from './views/report.ts';

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

/** The whole program over one context. It never ends the process by itself. */
const createProgram = (context: Context): Command => {
  const program = new Command('svc')
    .description('simulated replicas of the services that AI agents act on')
    .version(readRelease())
    .exitOverride()
    .showHelpAfterError('(add --help to see how it is used)')
    .configureOutput({
      writeOut: (text) => context.out.write(text),
      writeErr: (text) => context.err.write(text),
      getOutHelpWidth: () => context.out.columns,
      getErrHelpWidth: () => context.err.columns,
      getOutHasColors: () => context.colors.isColorSupported,
      getErrHasColors: () => false,
    })
    .addHelpText('after', guide);
  addUp(program, context);
  addWorlds(program, context);
  addTraces(program, context);
  addScores(program, context);
  addMetrics(program, context);
  addModels(program, context);
  addUsers(program, context);
  addComments(program, context);
  addDatasets(program, context);
  addQueues(program, context);
  addContext(program, context);
  addPrompts(program, context);
  addDashboards(program, context);
  addFiles(program, context);
  addMedia(program, context);
  addRelease(program, context);
  addOrgs(program, context);
  addProjects(program, context);
  addKeys(program, context);
  addTokens(program, context);
  addSettingsTo(program, context, 'svc settings');
  addPools(program, context);
  addAdmin(program, context);
  addDemo(program, context);
  addCompletion(program, context);
  return program;
};

/** `svc help a b` as `svc a b --help`: commander's own help command knows the first word alone. */
const readHelp = (words: readonly string[]): string[] =>
  words[0] === 'help' && words.length > 2 ? [...words.slice(1), '--help'] : [...words];

/** Runs one command line (without `node` and the file) and answers the exit status. */
export const runCommandLine = async (
  words: readonly string[],
  context: Context,
): Promise<number> => {
  const program = createProgram(context);
  try {
    await program.parseAsync(readHelp(words), { from: 'user' });
    return exitStatus.done;
  } catch (error) {
    return reportError(context, error, { json: words.includes('--json') });
  }
};
