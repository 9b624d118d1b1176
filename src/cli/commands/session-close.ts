/** `svc worlds session close`: ends a session. */
import type { Command } from 'commander';
import { limits } from '#domain/limits.ts';
import { closeSession } from '#wire/public-api/operations.ts';
import {
  addCommand,
  clientFor,
  parseNumber,
  printAnswer,
  type ServiceOptions,
  withService,
} from '../command.ts';
import type { Context } from '../context.ts';
import { withProgress } from '../progress.ts';
import { firstWaitSeconds, waitUntilClosed } from '../sessions.ts';

type Options = ServiceOptions & { keepWarm?: boolean; wait: number | false };

export const addSessionClose = (sessions: Command, context: Context): void => {
  const command = addCommand(sessions, {
    usage: 'close <session>',
    summary: 'end a session and wait until it is closed',
    example: 'svc worlds session close <session> --keep-warm',
  })
    .option('--keep-warm', 'its host may take a next session of the same world')
    .option(
      '--wait <seconds>',
      'how long to wait for the end',
      parseNumber({ min: 0, max: limits.waitMs / 1_000 }),
      30,
    )
    .option('--no-wait', 'answer at once');
  withService(command).action(async (sessionId: string, options: Options) => {
    const { keepWarm, wait } = options;
    const client = clientFor(context, options);
    const endsAt = performance.now() + (wait === false ? 0 : wait * 1_000);
    const close = async () => {
      const answer = await client.send(closeSession, {
        params: { sessionId },
        query: { wait: firstWaitSeconds(wait) },
        body: keepWarm === undefined ? {} : { keepWarm },
      });
      return waitUntilClosed({ client, session: answer.body, endsAt });
    };
    const body = await withProgress({ out: context.err, step: 'closing the session' }, close);
    const reason = body.endReason === null ? '' : ` (${body.endReason})`;
    printAnswer(context, options, body, () => `${body.id} is ${body.state}${reason}`);
  });
};
