/** `svc worlds session state`: row counts and digest of a session, or rows of one entity. */
import type { Command } from 'commander';
import { limits } from '#domain/limits.ts';
import { runCall } from '../calls.ts';
import {
  addCommand,
  clientFor,
  parseNumber,
  printAnswer,
  type ServiceOptions,
  withService,
} from '../command.ts';
import type { Context } from '../context.ts';
import { readJsonObject } from '../input.ts';
import { usageError } from '../report.ts';
import { describeCounts, describePage, outputOf, type StatePage } from '../views/call.ts';

type Options = ServiceOptions & {
  entity?: string;
  where?: string;
  limit?: number;
  offset?: number;
};

const readInput = async (context: Context, options: Options): Promise<Record<string, unknown>> => {
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

const describe = (context: Context, output: unknown): string => {
  if (typeof output === 'object' && output !== null && 'rows' in output) {
    const columns = context.out.isTerminal ? context.out.columns : Number.MAX_SAFE_INTEGER;
    return describePage(output as StatePage, columns);
  }
  return describeCounts(output as Parameters<typeof describeCounts>[0]);
};

export const addSessionState = (sessions: Command, context: Context): void => {
  const command = addCommand(sessions, {
    usage: 'state <session>',
    summary: 'how many rows of each entity a session holds, or the rows of one entity',
    example: [
      'svc worlds session state <session>',
      `svc worlds session state <session> --entity issues --where '{"state": "closed"}'`,
    ].join('\n'),
  })
    .option('--entity <name>', 'show the rows of this entity')
    .option('--where <json>', 'only rows with these values; a list of values matches any')
    .option(
      '--limit <number>',
      'rows at most',
      parseNumber({ min: 1, max: limits.statePageRows, whole: true }),
    )
    .option(
      '--offset <number>',
      'rows to leave out at the start',
      parseNumber({ min: 0, max: Number.MAX_SAFE_INTEGER, whole: true }),
    );
  withService(command).action(async (sessionId: string, options: Options) => {
    const input = await readInput(context, options);
    const client = clientFor(context, options);
    const call = await runCall(context, { client, sessionId, call: { kind: 'state', input } });
    const output = outputOf(call);
    printAnswer(context, options, call, () => describe(context, output));
  });
};
