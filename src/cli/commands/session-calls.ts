/**
 * Commands that send a call to a session and print its answer: `call`, `state`, `seed`, `reset` and `grade` of `svc
 * worlds session`.
 */

import { type Command, Option } from 'commander';
import { isObject } from '#domain/json.ts';
import { limits } from '#domain/limits.ts';
import { type RedactionMode, redactionModes } from '#language/redaction-modes.ts';
import { type SeedMode, seedModes } from '#language/task.ts';
import type { Client } from '#wire/client.ts';
import { getSession } from '#wire/public-api/operations.ts';
import type { Grade } from '#wire/public-api/sessions/grade.ts';
import { readJsonObject } from '../files/input.ts';
import { readSeedRows } from '../files/seed-rows.ts';
import { findContract } from '../service/contracts.ts';
import { runCall } from '../service/waits.ts';
import type { Context, View } from '../terminal/context.ts';
import { formatJson } from '../terminal/print.ts';
import {
  describeChanges,
  describeCounts,
  describeGrade,
  describePage,
  outputOf,
  type StatePage,
  summariseCall,
} from '../views/call.ts';
import { exitStatus, usageError } from '../views/report.ts';
import {
  addCommand,
  clientFor,
  collect,
  parseNumber,
  printAnswer,
  type ServiceOptions,
  withService,
} from './command.ts';

// `svc worlds session call`: calls a tool and prints its output. The changes that it made go to standard error, so
// that the output alone can be piped.

type CallCommandOptions = ServiceOptions & { input?: string };

export const addSessionCall = (sessions: Command, context: Context): void => {
  const command = addCommand(sessions, {
    usage: 'call <session> <tool>',
    summary: 'call a tool of the session and print its output',
    example: [
      `svc worlds session call <session> list_issues --input '{"state": "open"}'`,
      'svc worlds session call <session> create_issues --input @issue.json',
    ].join('\n'),
  }).option('--input <json>', 'the input as JSON, @file, or - for standard input; default {}');
  withService(command).action(
    async (sessionId: string, tool: string, options: CallCommandOptions) => {
      const input = await readJsonObject(context, options.input ?? '{}', '--input');
      const client = clientFor(context, options);
      const call = await runCall(context, {
        client,
        sessionId,
        call: { kind: 'tool', name: tool, input },
      });
      if (options.json === true) context.out.writeExactly(formatJson(call));
      const output = outputOf(call);
      if (options.json === true) return;
      context.out.writeExactly(formatJson(output));
      context.err.write(`${summariseCall(call)}\n`);
    },
  );
};

type StateOptions = ServiceOptions & {
  entity?: string;
  where?: string;
  limit?: number;
  offset?: number;
};

const readStateInput = async (
  context: Context,
  options: StateOptions,
): Promise<Record<string, unknown>> => {
  const { entity, where, limit, offset } = options;
  if (entity === undefined) {
    if (where === undefined && limit === undefined && offset === undefined) return {};
    throw usageError('--where, --limit and --offset need --entity');
  }
  return {
    entity,
    ...(where === undefined ? {} : { where: await readJsonObject(context, where, '--where') }),
    ...(limit === undefined ? {} : { limit }),
    ...(offset === undefined ? {} : { offset }),
  };
};

const describeState = (output: unknown, { columns }: View): string => {
  if (isObject(output) && 'rows' in output) return describePage(output as StatePage, columns);
  return describeCounts(output as Parameters<typeof describeCounts>[0]);
};

export const addSessionState = (sessions: Command, context: Context): void => {
  const command = addCommand(sessions, {
    usage: 'state <session>',
    summary: 'show the number of rows of each entity in a session, or the rows of one entity',
    example: [
      'svc worlds session state <session>',
      `svc worlds session state <session> --entity issues --where '{"state": "closed"}'`,
    ].join('\n'),
  })
    .option('--entity <name>', 'show the rows of this entity')
    .option('--where <json>', 'only rows with these values; for a list, any of its values matches')
    .option(
      '--limit <number>',
      'maximum number of rows',
      parseNumber({ min: 1, max: limits.statePageRows, whole: true }),
    )
    .option(
      '--offset <number>',
      'number of rows to skip',
      parseNumber({ min: 0, max: Number.MAX_SAFE_INTEGER, whole: true }),
    );
  withService(command).action(async (sessionId: string, options: StateOptions) => {
    const input = await readStateInput(context, options);
    const client = clientFor(context, options);
    const call = await runCall(context, { client, sessionId, call: { kind: 'state', input } });
    const output = outputOf(call);
    printAnswer(context, options, call, (view) => describeState(output, view));
  });
};

type SeedOptions = ServiceOptions & {
  rows: string[];
  entity?: string;
  mode: SeedMode;
  redact: RedactionMode;
};

/**
 * Fetches the contract for parsing cells of tables. Returns undefined if all files are JSON, because JSON is parsed
 * without a contract.
 */
const contractFor = async (client: Client, sessionId: string, files: readonly string[]) => {
  if (files.every((file) => /\.(?:json|jsonl|ndjson)$/.test(file))) return undefined;
  const { slug, versionId } = (await client.send(getSession, { params: { sessionId } })).body;
  return (await findContract(client, `${slug}@${versionId}`)).contract;
};

export const addSessionSeed = (sessions: Command, context: Context): void => {
  const command = addCommand(sessions, {
    usage: 'seed <session>',
    summary: 'add rows to a session; if one row is invalid, none is written',
    example:
      'svc worlds session seed <session> --rows issues.jsonl --entity issues\nsvc worlds session seed <session> --rows issues.csv',
  })
    .requiredOption(
      '--rows <file>',
      'file of rows: JSON, JSONL, CSV or Parquet, - for standard input; repeatable',
      collect,
    )
    .option('--entity <name>', 'entity of rows that do not name one themselves')
    .addOption(
      new Option(
        '--mode <mode>',
        'append the rows, merge them into rows with the same key, or replace all rows of the entities',
      )
        .choices(seedModes)
        .default('append'),
    )
    .addOption(
      new Option(
        '--redact <mode>',
        "apply the world's redaction policy to the rows before they are stored, or refuse plaintext",
      )
        .choices(redactionModes)
        .default('off'),
    );
  withService(command).action(async (sessionId: string, options: SeedOptions) => {
    const { mode, redact, entity } = options;
    const client = clientFor(context, options);
    const contract = await contractFor(client, sessionId, options.rows);
    const { rows } = await readSeedRows(context, options.rows, { entity, contract });
    const input = { rows, mode, ...(redact === 'off' ? {} : { redact }) };
    const call = await runCall(context, { client, sessionId, call: { kind: 'seed', input } });
    outputOf(call);
    printAnswer(context, options, call, () => summariseCall(call));
  });
};

export const addSessionReset = (sessions: Command, context: Context): void => {
  const command = addCommand(sessions, {
    usage: 'reset <session>',
    summary: 'reset the session to the initial state of its task',
    example: 'svc worlds session reset <session>',
  });
  withService(command).action(async (sessionId: string, options: ServiceOptions) => {
    const client = clientFor(context, options);
    const call = await runCall(context, { client, sessionId, call: { kind: 'reset' } });
    const output = outputOf(call) as Parameters<typeof describeCounts>[0];
    printAnswer(context, options, call, () => describeCounts(output));
  });
};

type AnswerOptions = ServiceOptions & { json?: boolean };

/** Parses the text as JSON if possible; any other text is returned as it is: `42` is a number, `Bergen` a text. */
const readAnswer = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
};

export const addSessionAnswer = (sessions: Command, context: Context): void => {
  const command = addCommand(sessions, {
    usage: 'answer <session> <answer>',
    summary: 'answer the question of the task; a later answer replaces an earlier one',
    example: [
      'svc worlds session answer <session> 42',
      `svc worlds session answer <session> '["ann", "bo"]'`,
    ].join('\n'),
  });
  withService(command).action(async (sessionId: string, text: string, options: AnswerOptions) => {
    const input = { answer: readAnswer(text) };
    const client = clientFor(context, options);
    const call = await runCall(context, { client, sessionId, call: { kind: 'answer', input } });
    outputOf(call);
    printAnswer(context, options, call, () => `answered ${JSON.stringify(input.answer)}\n`);
  });
};

// `svc worlds session grade`: grades the current state of a session. A failed grade is a result and not an error. With
// `--exit-code`, a failed grade makes the exit status 1, and an undecided one 2, for scripts.

type GradeOptions = ServiceOptions & {
  exitCode?: boolean;
  changes?: boolean;
  offset?: number;
  limit?: number;
};

const gradeStatus = {
  pass: exitStatus.done,
  fail: exitStatus.failed,
  unknown: exitStatus.unknown,
} as const;

export const addSessionGrade = (sessions: Command, context: Context): void => {
  const command = addCommand(sessions, {
    usage: 'grade <session>',
    summary: 'grade the state of a session by the checks of its task',
    example: 'svc worlds session grade <session> --exit-code',
  })
    .option('--exit-code', 'exit with status 1 if the verdict is fail, 2 if it is unknown')
    .option(
      '--changes',
      'show all rows that changed since the task began, each with the check that explains it',
    )
    .option(
      '--offset <rows>',
      'with --changes: number of rows to skip',
      parseNumber({ min: 0, max: Number.MAX_SAFE_INTEGER, whole: true }),
    )
    .option(
      '--limit <rows>',
      'with --changes: maximum number of rows',
      parseNumber({ min: 1, max: limits.statePageRows, whole: true }),
    );
  withService(command).action(async (sessionId: string, options: GradeOptions) => {
    const { changes: showsChanges = false, offset, limit } = options;
    if (!showsChanges && (offset ?? limit) !== undefined) {
      throw usageError('--offset and --limit are for --changes');
    }
    if (options.exitCode === true) context.setExitStatus(exitStatus.failed); // stays until there is a grade
    const client = clientFor(context, options);
    const page = {
      ...(offset === undefined ? {} : { offset }),
      ...(limit === undefined ? {} : { limit }),
    };
    const input = showsChanges ? { input: { changes: page } } : {};
    const call = await runCall(context, { client, sessionId, call: { kind: 'grade', ...input } });
    const grade = outputOf(call) as Grade;
    printAnswer(context, options, call, () =>
      showsChanges ? describeChanges(grade) : describeGrade(grade, context.colors),
    );
    if (options.exitCode === true) context.setExitStatus(gradeStatus[grade.verdict]);
  });
};
