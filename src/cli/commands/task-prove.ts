/**
 * `svc worlds task prove`: proves in a session that the grader of a task passes right solutions and fails wrong ones.
 */
import type { Command } from 'commander';
import { AppError } from '#domain/error.ts';
import { limits } from '#domain/limits.ts';
import type { Client } from '#wire/client.ts';
import type { Proof } from '#wire/public-api/evaluation/proof.ts';
import { closeSession, openSession } from '#wire/public-api/operations.ts';
import type { OpenSessionBody } from '#wire/public-api/sessions/session.ts';
import { readJsonObject } from '../files/input.ts';
import { runCall, waitUntilReady } from '../service/waits.ts';
import type { Context } from '../terminal/context.ts';
import { withProgress } from '../terminal/progress.ts';
import { outputOf } from '../views/call.ts';
import { describeProof } from '../views/proof.ts';
import { usageError } from '../views/report.ts';
import {
  addCommand,
  addressWith,
  addVersion,
  clientFor,
  parseNumber,
  printAnswer,
  type ServiceOptions,
  setVerdict,
  withService,
} from './command.ts';

type Options = ServiceOptions & {
  task?: string;
  taskFile?: string;
  version?: string;
  wait: number;
};

const storedTask = /^tsk-/;

const parseTaskVersion = (text: string): number => {
  const version = Number(text);
  if (Number.isInteger(version) && version >= 1 && version <= 1_000_000) return version;
  throw usageError(
    `"${text}" is not a version of a stored task: versions are whole numbers from 1`,
  );
};

/** Returns the body of the request that opens the session. */
const readBody = async (
  context: Context,
  what: string,
  { task, taskFile, version }: Options,
): Promise<OpenSessionBody> => {
  if (storedTask.test(what)) {
    if (task !== undefined || taskFile !== undefined) {
      throw usageError('name a stored task by its id alone, without a world');
    }
    return {
      task: { id: what, ...(version === undefined ? {} : { version: parseTaskVersion(version) }) },
    };
  }
  const [world = '', ...rest] = what.split('/');
  const slug = addressWith(world, version);
  const names = [task, taskFile, rest.length === 0 ? undefined : rest.join('/')];
  if (names.filter((one) => one !== undefined).length !== 1) {
    throw usageError(
      'name one task: <world> with --task or --task-file, <world>/<task>, or the id of a stored task',
    );
  }
  if (taskFile === undefined) return { slug, task: task ?? rest.join('/') };
  const given = taskFile === '-' ? '-' : `@${taskFile}`;
  const spec = await readJsonObject(context, given, '--task-file');
  return { slug, task: spec as NonNullable<OpenSessionBody['task']> };
};

const openOn = async (context: Context, client: Client, body: OpenSessionBody, wait: number) => {
  const endsAt = performance.now() + wait * 1_000;
  const query = { wait: Math.min(wait, limits.waitMs / 1_000) };
  const progress = { out: context.err, step: 'waiting for the session to be ready' };
  const opened = await client.send(openSession, { body: { ...body, reuseWarm: true }, query });
  const session = await withProgress(progress, () =>
    waitUntilReady({ client, session: opened.body, endsAt }),
  );
  return session;
};

const proveOn = async (
  context: Context,
  client: Client,
  body: OpenSessionBody,
  wait: number,
): Promise<Proof> => {
  const session = await openOn(context, client, body, wait);
  try {
    if (!session.ready) {
      const why = session.error === null ? '' : `: ${session.error.message}`;
      throw new AppError('unavailable', `session ${session.id} is ${session.state}${why}`);
    }
    const call = await runCall(context, { client, sessionId: session.id, call: { kind: 'prove' } });
    return outputOf(call) as Proof;
  } finally {
    const params = { sessionId: session.id };
    await client.send(closeSession, { params, query: { wait: 0 }, body: { keepWarm: true } });
  }
};

export const addProve = (tasks: Command, context: Context): void => {
  const command = addCommand(tasks, {
    usage: 'prove <world|task>',
    summary:
      'prove a task: doing nothing fails, the solution passes, and each check can fail; exit status 1 if not',
    example: [
      'svc worlds task prove crm -t renew',
      'svc worlds task prove crm --task-file renew.json --json',
      'svc worlds task prove tsk-…',
    ].join('\n'),
    decides: true,
  })
    .option('-t, --task <name>', 'a bundled task of the world')
    .option('--task-file <file>', 'a task of your own, as JSON; - reads standard input')
    .option(
      '--wait <seconds>',
      'maximum wait until a session is ready, in seconds',
      parseNumber({ min: 0, max: 3_600 }),
      60,
    );
  addVersion(command, {
    about: 'version of the world, or of the stored task',
    formerly: 'task-version',
  });
  withService(command).action(async (what: string, options: Options) => {
    const body = await readBody(context, what, options);
    const proof = await proveOn(context, clientFor(context, options), body, options.wait);
    printAnswer(context, options, proof, (view) => describeProof(proof, view));
    setVerdict(context, proof.passed);
  });
};
