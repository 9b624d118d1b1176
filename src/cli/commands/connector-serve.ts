/**
 * `svc worlds connector serve`: serves the API and the page of a folder during its development, without service or
 * database.
 */
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { newId, newSecret } from '#domain/id.ts';
import { compileTree } from '#language/compile/compile.ts';
import type { ProgramLine, ServingLine } from '#wire/program-lines/lines.ts';
import {
  type BuiltFolder,
  buildFolder,
  type FolderSession,
  type KeptOfFolder,
} from '../files/folder-world.ts';
import { readTree } from '../files/input.ts';
import { watchFolder } from '../files/watch-folder.ts';
import { type FolderProgram, startFolderProgram } from '../service/folder-program.ts';
import type { Context } from '../terminal/context.ts';
import { listenForStop } from '../terminal/stopping.ts';
import { findFreePort, portProblem } from '../up/free-port.ts';
import { ProblemsError, reportError } from '../views/report.ts';
import { requestLine, requestOfRow } from '../views/request.ts';
import { describeReload, describeServed, servedAddresses } from '../views/served.ts';
import { addCommand, parseNumber, printLine } from './command.ts';

type Options = { port?: number; task?: string; seed?: number; token?: string; json?: boolean };

/** Default port, used if it is free. */
const usualPort = 4600;

const portOf = async ({ port }: Options): Promise<number> => {
  if (port !== undefined) return port;
  return (await portProblem(usualPort)) === undefined ? usualPort : findFreePort();
};

/** State of a served folder: the program that serves it, and the last build that this program was given. */
type Serving = {
  context: Context;
  folder: string;
  options: Options;
  session: FolderSession;
  kept: KeptOfFolder;
  program: FolderProgram | undefined;
  address: string | undefined;
  /** Last build that the program was given, and the time at which that build began. */
  given: { built: BuiltFolder; since: number } | undefined;
  isServed: boolean;
};

/** Returns a text that differs whenever anything differs that the program serves. */
const signatureOf = ({ world: { assignment } }: BuiltFolder): string => JSON.stringify(assignment);

/** Builds the folder and gives the build to the program, unless nothing that is served has changed. */
const giveFolder = (serving: Serving): void => {
  const since = performance.now();
  const { context, folder, given, program } = serving;
  const tree = readTree(context, folder);
  const compiled = compileTree(tree, serving.kept);
  if (!compiled.ok) throw new ProblemsError(folder, compiled.problems, tree);
  const built = buildFolder(folder, tree, compiled, serving);
  if (given !== undefined && signatureOf(given.built) === signatureOf(built)) return;
  serving.given = { built, since };
  program?.give(built.world);
};

/** Builds the folder after a change. Problems are reported, and the last good build stays in service. */
const giveChange = (serving: Serving): void => {
  const { context, options } = serving;
  try {
    giveFolder(serving);
  } catch (error) {
    reportError(context, error, options);
    if (options.json !== true) context.err.write('the last good build stays in service\n');
  }
};

const showServing = (serving: Serving, outcome: ServingLine['serving']): void => {
  const { context, options, given, address } = serving;
  if (given === undefined || address === undefined) return;
  const { built, since } = given;
  const addresses = servedAddresses(address, built);
  const view = { tookMs: performance.now() - since, colors: context.colors };
  const text = serving.isServed
    ? describeReload(built, outcome, view)
    : describeServed(built, addresses, view);
  serving.isServed = true;
  const line = { serving: { ...addresses, ...outcome, tookMs: Math.round(view.tookMs) } };
  printLine(context, options, line, () => text);
};

const hear = (serving: Serving, line: ProgramLine): void => {
  const { context, options, session } = serving;
  if ('listening' in line) serving.address = line.listening[0];
  else if ('serving' in line) showServing(serving, line.serving);
  else if ('notServed' in line) {
    const { reason, hasBefore } = line.notServed;
    const rest = hasBefore ? '; the last good build stays in service' : '';
    const text = options.json === true ? JSON.stringify(line) : `not served: ${reason}${rest}`;
    context.err.write(`${text}\n`);
  } else if ('request' in line) {
    const request = requestOfRow(session.sessionId, line.request);
    printLine(context, options, { request }, () => requestLine(request, context.colors));
  }
};

const serve = async (context: Context, folder: string, options: Options): Promise<void> => {
  const stopping = listenForStop();
  const serving: Serving = {
    context,
    folder,
    options,
    session: {
      sessionId: newId('ses'),
      token: options.token ?? newSecret('st'),
      link: newSecret('lk'),
      task: options.task,
      seed: options.seed ?? null,
    },
    kept: { known: new Map(), sent: new Set() },
    program: undefined,
    address: undefined,
    given: undefined,
    isServed: false,
  };
  try {
    const port = await portOf(options);
    const programOptions = {
      env: context.env,
      port,
      hear: (line: ProgramLine) => hear(serving, line),
    };
    // The program starts while the folder is being compiled.
    const program = startFolderProgram(programOptions);
    serving.program = program;
    const stopped = new Promise<void>((done) => {
      stopping.signal.addEventListener('abort', () => done(), { once: true });
      if (stopping.signal.aborted) done();
    });
    try {
      giveFolder(serving);
      watchFolder(resolve(context.cwd, folder), () => giveChange(serving), stopping.signal);
      await Promise.race([stopped, program.ended]);
    } finally {
      await program.stop();
    }
  } finally {
    stopping.release();
  }
};

export const addConnectorServe = (connector: Command, context: Context): void => {
  addCommand(connector, {
    usage: 'serve <folder>',
    summary: 'serve the API and the page of a folder locally; reload when a file is saved',
    example: [
      'svc worlds connector serve ./crm',
      'svc worlds connector serve ./crm --task close-duplicate --port 4600',
    ].join('\n'),
  })
    .option(
      '--port <number>',
      `port to serve on (default: ${usualPort}, or any free one)`,
      parseNumber({ min: 1, max: 65_535, whole: true }),
    )
    .option('--task <name>', 'the bundled task to start (default: none)')
    .option(
      '--seed <number>',
      'number from which new ids are derived: the same requests then get the same ids',
      parseNumber({ min: 0, max: Number.MAX_SAFE_INTEGER, whole: true }),
    )
    .option('--token <text>', 'token that clients must send (default: a new one)')
    .option('--json', 'print events as lines of JSON')
    .action((folder: string, options: Options) => serve(context, folder, options));
};
