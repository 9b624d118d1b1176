/**
 * `svc worlds session call`: calls a tool and prints its output. What it changed goes to standard
 * error, so that the output alone can be piped on.
 */
import type { Command } from 'commander';
import { runCall } from '../calls.ts';
import { addCommand, clientFor, type ServiceOptions, withService } from '../command.ts';
import type { Context } from '../context.ts';
import { readJsonObject } from '../input.ts';
import { formatJson } from '../print.ts';
import { outputOf, summariseCall } from '../views/call.ts';

type Options = ServiceOptions & { input?: string };

export const addSessionCall = (sessions: Command, context: Context): void => {
  const command = addCommand(sessions, {
    usage: 'call <session> <tool>',
    summary: 'call a tool of the session and print its output',
    example: [
      `svc worlds session call <session> list_issues --input '{"state": "open"}'`,
      'svc worlds session call <session> create_issues --input @issue.json',
    ].join('\n'),
  }).option('--input <json>', 'the input as JSON, @file, or - for standard input; default {}');
  withService(command).action(async (sessionId: string, tool: string, options: Options) => {
    const input = await readJsonObject(context, options.input ?? '{}', '--input');
    const client = clientFor(context, options);
    const call = await runCall(context, {
      client,
      sessionId,
      call: { kind: 'tool', name: tool, input },
    });
    if (options.json === true) context.out.write(formatJson(call));
    const output = outputOf(call);
    if (options.json === true) return;
    context.out.write(formatJson(output));
    context.err.write(`${summariseCall(call)}\n`);
  });
};
