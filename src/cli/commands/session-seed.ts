/** `svc worlds session seed`: puts rows into a session. */
import { type Command, Option } from 'commander';
import { runCall } from '../calls.ts';
import {
  addCommand,
  clientFor,
  collect,
  printAnswer,
  type ServiceOptions,
  withService,
} from '../command.ts';
import type { Context } from '../context.ts';
import { readRows } from '../input.ts';
import { outputOf, summariseCall } from '../views/call.ts';

type Options = ServiceOptions & { rows: string[]; entity?: string; mode: 'append' | 'replace' };

export const addSessionSeed = (sessions: Command, context: Context): void => {
  const command = addCommand(sessions, {
    usage: 'seed <session>',
    summary: 'put rows into a session; one bad row writes nothing',
    example: 'svc worlds session seed <session> --rows issues.jsonl --entity issues',
  })
    .requiredOption('--rows <file>', 'rows, .json or .jsonl; repeatable', collect)
    .option('--entity <name>', 'entity of the rows in files that do not name it')
    .addOption(
      new Option('--mode <mode>', 'add to the rows there, or replace those of the named entities')
        .choices(['append', 'replace'])
        .default('append'),
    );
  withService(command).action(async (sessionId: string, options: Options) => {
    const input = { rows: readRows(context, options.rows, options.entity), mode: options.mode };
    const client = clientFor(context, options);
    const call = await runCall(context, { client, sessionId, call: { kind: 'seed', input } });
    outputOf(call);
    printAnswer(context, options, call, () => summariseCall(call));
  });
};
