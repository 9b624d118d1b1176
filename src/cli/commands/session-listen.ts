/** `svc worlds session listen`: forwards a session's webhook deliveries to a receiver of the user. */
import { type Command, InvalidArgumentError } from 'commander';
import { connect } from '../service/client.ts';
import { type ListenEnd, listen } from '../service/listen.ts';
import type { Context } from '../terminal/context.ts';
import { formatCount } from '../terminal/print.ts';
import { listenForStop } from '../terminal/stopping.ts';
import { exitStatus } from '../views/report.ts';
import { describeForwarded, type ForwardedDelivery, forwardedAnswer } from '../views/webhooks.ts';
import { addCommand, parseNumber, printLine, type ServiceOptions, withData } from './command.ts';

type Options = ServiceOptions & {
  forwardTo: URL;
  replay?: boolean;
  once?: boolean;
  intervalMs?: number;
};

const parseTarget = (text: string): URL => {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !['http:', 'https:'].includes(url.protocol)) {
    throw new InvalidArgumentError(
      'The value is not an address such as http://localhost:3000/webhooks.',
    );
  }
  if (url.username !== '' || url.password !== '') {
    throw new InvalidArgumentError('The address must not contain a name and password.');
  }
  return url;
};

const printEnd = (context: Context, sessionId: string, end: ListenEnd, count: number): void => {
  const forwarded = `${formatCount(count, 'delivery', 'deliveries')} forwarded`;
  if (end.kind === 'interrupted') context.err.write(`interrupted; ${forwarded}\n`);
  else if (end.kind === 'over' || end.isOver) {
    context.err.write(`${sessionId} has ended (${end.state}); ${forwarded}\n`);
    context.setExitStatus(exitStatus.failed);
  } else context.err.write(`${forwarded}\n`);
};

const run = async (context: Context, sessionId: string, options: Options): Promise<void> => {
  const { forwardTo: target, once = false, replay = once, intervalMs, json, data } = options;
  const client = connect({ env: context.env, cwd: context.cwd, data });
  const stopping = listenForStop();
  let count = 0;
  const onForwarded = (done: ForwardedDelivery): void => {
    count += 1;
    printLine(context, { json: json === true }, forwardedAnswer(done), () =>
      describeForwarded(done, context.colors),
    );
  };
  const what = once ? 'has sent' : 'sends';
  context.err.write(
    `forwarding what ${sessionId} ${what} to ${target.href}${once ? '' : '; stop with Ctrl-C'}\n`,
  );
  try {
    const end = await listen({
      ...{ client, sessionId, target, replay, once, intervalMs },
      signal: stopping.signal,
      onForwarded,
      onAway: ({ message }) =>
        context.err.write(`the service does not answer (${message}); trying again until it does\n`),
    });
    printEnd(context, sessionId, end, count);
  } finally {
    stopping.release();
  }
};

export const addSessionListen = (sessions: Command, context: Context): void => {
  const command = addCommand(sessions, {
    usage: 'listen <session>',
    summary: 'forward the webhook deliveries of a session to a receiver of your own',
    example:
      'svc worlds session listen <session> --forward-to http://localhost:3000/webhooks\n' +
      'svc worlds session listen <session> --forward-to http://localhost:3000/webhooks --once --json',
  })
    .requiredOption(
      '--forward-to <url>',
      'URL that receives each delivery, with its signature',
      parseTarget,
    )
    .option('--replay', 'also forward deliveries that the session has already made')
    .option('--once', 'forward only deliveries that the session has already made, then exit')
    .option(
      '--interval-ms <number>',
      'poll at this interval, in seconds, instead of waiting for a notification',
      parseNumber({ min: 100, max: 3_600_000, whole: true }),
    )
    .option('--json', 'print one line of JSON for each delivery');
  withData(command).action((sessionId: string, options: Options) =>
    run(context, sessionId, options),
  );
};
