/** `svc worlds session faults`: shows or sets the faults that a session injects. */
import type { Command } from 'commander';
import type { Row } from '#language/contract.ts';
import { readJsonObject } from '../files/input.ts';
import { runCall } from '../service/waits.ts';
import type { Context } from '../terminal/context.ts';
import { outputOf } from '../views/call.ts';
import { describeFaults, type FaultsView } from '../views/faults.ts';
import { usageError } from '../views/report.ts';
import { addCommand, clientFor, printAnswer, type ServiceOptions, withService } from './command.ts';

type Options = ServiceOptions & { set?: string; off?: boolean; declared?: boolean };

/** Returns the input of the call; an empty input only reads the faults. */
const readInput = async (context: Context, { set, off, declared }: Options): Promise<Row> => {
  if ([set, off, declared].filter((one) => one !== undefined).length > 1) {
    throw usageError('give only one of --set, --off and --declared');
  }
  if (set !== undefined) return readJsonObject(context, set, '--set');
  if (off === true) return { rules: [] };
  return declared === true ? { declared: true } : {};
};

export const addSessionFaults = (sessions: Command, context: Context): void => {
  const command = addCommand(sessions, {
    usage: 'faults <session>',
    summary: 'show the faults that a session injects, or set them until its next reset',
    example: [
      'svc worlds session faults <session>',
      `svc worlds session faults <session> --set '{"rules": [{"name": "busy", "nth": 3, "status": 503}]}'`,
      'svc worlds session faults <session> --set @faults.json',
    ].join('\n'),
  })
    .option(
      '--set <json>',
      'the faults, in the form of the table [api.faults]: JSON, @file, or - for standard input',
    )
    .option('--off', 'inject no faults')
    .option('--declared', 'inject the faults that the world declares, with their counters reset');
  withService(command).action(async (sessionId: string, options: Options) => {
    const input = await readInput(context, options);
    const client = clientFor(context, options);
    const call = await runCall(context, { client, sessionId, call: { kind: 'faults', input } });
    const output = outputOf(call) as FaultsView;
    printAnswer(context, options, call, (view) => describeFaults(output, view));
  });
};
