/**
 * `svc worlds session`: the group of commands about sessions. This file contains those that list, show, pin and close
 * sessions.
 */
import { type Command, Option } from 'commander';
import { verdicts } from '#domain/grade.ts';
import { limits } from '#domain/limits.ts';
import { runFilters, sessionStates } from '#domain/session.ts';
import {
  closeSession,
  createSurfaceLink,
  getSession,
  listSessions,
  updateSession,
} from '#wire/public-api/operations.ts';
import { type RequestFilter, readRequests } from '../service/requests.ts';
import { firstWaitSeconds, waitUntilClosed } from '../service/waits.ts';
import { type Context, viewOf } from '../terminal/context.ts';
import { withProgress } from '../terminal/progress.ts';
import { usageError } from '../views/report.ts';
import { describeLedger } from '../views/request.ts';
import { describeSession, listSessions as sessionsText } from '../views/session.ts';
import {
  addCommand,
  addRequestFilters,
  clientFor,
  filterOf,
  parseNumber,
  printAnswer,
  type ServiceOptions,
  withService,
} from './command.ts';
import { addListCommand, addRequestCommand } from './request-command.ts';
import { addSessionAgent } from './session-agent.ts';
import { addSessionExport, addSessionRegrade } from './session-archive.ts';
import {
  addSessionAnswer,
  addSessionCall,
  addSessionGrade,
  addSessionReset,
  addSessionSeed,
  addSessionState,
} from './session-calls.ts';
import { addSessionFaults } from './session-faults.ts';
import { addSessionListen } from './session-listen.ts';
import { addSessionMcp } from './session-mcp.ts';
import { addSessionOpen } from './session-open.ts';
import { addSessionRecording } from './session-recording.ts';
import { addSessionScreenshot } from './session-screenshot.ts';
import { addSessionWebhooks } from './session-webhooks.ts';

const addSessionList = (sessions: Command, context: Context): void => {
  addListCommand(sessions, context, {
    usage: 'list',
    summary: 'list the sessions of the project, newest first',
    example: [
      'svc worlds session list --world code-hosting --state READY',
      'svc worlds session list --run nightly-42 --verdict fail',
    ].join('\n'),
    filters: {
      state: new Option('--state <state>', 'only sessions in this state').choices(sessionStates),
      verdict: new Option(
        '--verdict <verdict>',
        'only sessions whose last grade has this verdict',
      ).choices(verdicts),
      world: new Option('--world <slug>', 'only sessions of this world'),
      task: new Option(
        '--task <task>',
        'only sessions on the task with this name, or on the stored task with this id',
      ),
      runs: new Option(
        '--runs <treatment>',
        'sessions of test runs, proofs and dataset runs (default: exclude, but include with --build)',
      ).choices(runFilters),
      run: new Option('--run <id>', 'only sessions of this test run, dataset run or agent run'),
      build: new Option(
        '--build <build>',
        'only sessions of this build of an agent, by its id or hash',
      ),
    },
    operation: listSessions,
    text: sessionsText,
  });
};

const addSessionShow = (sessions: Command, context: Context): void => {
  addRequestCommand(sessions, context, {
    usage: 'show <session>',
    summary: 'show state, readiness, address and token of a session',
    example: 'svc worlds session show ses-01kaz4x0pg8q2m5v7n3c1d9e6f',
    operation: getSession,
    input: ([sessionId]) => ({ params: { sessionId } }),
    text: describeSession,
  });
};

type LedgerOptions = ServiceOptions & RequestFilter & { limit: number };

const addSessionRequests = (sessions: Command, context: Context): void => {
  const command = addCommand(sessions, {
    usage: 'requests <session>',
    summary: 'list the request ledger of a session, oldest first, also after its end',
    example: 'svc worlds session requests <session> --via api',
  }).option(
    '--limit <number>',
    'maximum number of entries',
    parseNumber({ min: 1, max: limits.statePageRows, whole: true }),
    limits.statePageRows,
  );
  withService(addRequestFilters(command)).action(
    async (sessionId: string, options: LedgerOptions) => {
      const client = clientFor(context, options);
      const question = { client, sessionId, filter: filterOf(options), limit: options.limit };
      const found = await readRequests(context, question);
      const { data, totalItems, dropped } = found;
      printAnswer(context, options, found, () =>
        [
          describeLedger(data, viewOf(context)),
          ...(data.length < totalItems
            ? [`${data.length} of ${totalItems}; see more with --limit`]
            : []),
          ...(dropped === undefined
            ? []
            : [`${dropped} more are missing: they were over a limit or never arrived`]),
        ].join('\n'),
      );
    },
  );
};

/** Adds the commands `pin` and `unpin`. */
const addSessionPin = (sessions: Command, context: Context): void => {
  for (const [name, pinned, summary] of [
    ['pin', true, 'keep a session open however long it is idle'],
    ['unpin', false, 'let a session be closed again when it is idle'],
  ] as const) {
    addRequestCommand(sessions, context, {
      usage: `${name} <session>`,
      summary,
      example: `svc worlds session ${name} <session>`,
      operation: updateSession,
      input: ([sessionId]) => ({ params: { sessionId }, body: { pinned } }),
      text: ({ id }) => `${id} is ${pinned ? '' : 'not '}pinned`,
    });
  }
};

type LinkOptions = { surface: 'ui' | 'browser'; readOnly?: boolean; devtools?: boolean };

const addSessionLink = (sessions: Command, context: Context): void => {
  addRequestCommand(sessions, context, {
    usage: 'link <session>',
    summary: 'create a one-time link that opens the page or the browser of a session',
    example: [
      'svc worlds session link <session>',
      'svc worlds session link <session> --surface browser --read-only',
    ].join('\n'),
    options: (command) =>
      command
        .addOption(
          new Option('--surface <surface>', 'surface that the link opens')
            .choices(['ui', 'browser'])
            .default('ui'),
        )
        .option('--read-only', 'for a browser: only watch it')
        .option(
          '--devtools',
          'for a browser: DevTools access, for a program that cannot send headers',
        ),
    operation: createSurfaceLink,
    input: ([sessionId], { surface, readOnly, devtools }: LinkOptions) => {
      if (readOnly === true && devtools === true) {
        throw usageError('give only one of --read-only and --devtools');
      }
      const opens: 'devtools' | 'view' | 'all' =
        devtools === true ? 'devtools' : readOnly === true ? 'view' : 'all';
      return { params: { sessionId }, body: { surface, opens } };
    },
    text: ({ url }) => url,
  });
};

type CloseOptions = ServiceOptions & { keepWarm?: boolean; wait: number | false };

const addSessionClose = (sessions: Command, context: Context): void => {
  const command = addCommand(sessions, {
    usage: 'close <session>',
    summary: 'close a session and wait until it has ended',
    example: 'svc worlds session close <session> --keep-warm',
  })
    .option('--keep-warm', 'allow its host to serve another session of the same world')
    .option(
      '--wait <seconds>',
      'maximum wait for the end, in seconds',
      parseNumber({ min: 0, max: limits.waitMs / 1_000 }),
      30,
    )
    .option('--no-wait', 'do not wait until the session has ended');
  withService(command).action(async (sessionId: string, options: CloseOptions) => {
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

export const addSessions = (worlds: Command, context: Context): void => {
  const session = worlds
    .command('session')
    .description('open a session of a world, drive it, grade it, close it');
  addSessionOpen(session, context);
  addSessionList(session, context);
  addSessionShow(session, context);
  addSessionCall(session, context);
  addSessionState(session, context);
  addSessionAnswer(session, context);
  addSessionFaults(session, context);
  addSessionScreenshot(session, context);
  addSessionRecording(session, context);
  addSessionSeed(session, context);
  addSessionReset(session, context);
  addSessionRequests(session, context);
  addSessionWebhooks(session, context);
  addSessionListen(session, context);
  addSessionMcp(session, context);
  addSessionGrade(session, context);
  addSessionAgent(session, context);
  addSessionExport(session, context);
  addSessionRegrade(session, context);
  addSessionLink(session, context);
  addSessionPin(session, context);
  addSessionClose(session, context);
};
