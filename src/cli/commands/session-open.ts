/** `svc worlds session open`: opens a session and waits until it is ready, unless `--no-wait` is given. */
import { type Command, Option } from 'commander';
import { AppError } from '#domain/error.ts';
import { type Isolation, isolations } from '#domain/pool.ts';
import { browserTiers, surfaceKinds } from '#domain/session.ts';
import { type ClockMode, clockModes, maxClockRate } from '#domain/world-clock.ts';
import { openSession } from '#wire/public-api/operations.ts';
import type { OpenSessionBody, SessionView } from '#wire/public-api/sessions/session.ts';
import { readTaskFile } from '../files/input.ts';
import { firstWaitSeconds, waitUntilReady } from '../service/waits.ts';
import type { Context } from '../terminal/context.ts';
import { withProgress } from '../terminal/progress.ts';
import { usageError } from '../views/report.ts';
import { describeSession } from '../views/session.ts';
import {
  addCommand,
  addressWith,
  addWorldVersion,
  clientFor,
  parseNumber,
  printAnswer,
  type ServiceOptions,
  withService,
} from './command.ts';

type Options = ServiceOptions & {
  task?: string;
  taskFile?: string;
  taskId?: string;
  taskVersion?: number;
  versionId?: string;
  version?: string;
  surface?: (typeof surfaceKinds)[number][];
  reuseWarm?: boolean;
  tier?: (typeof browserTiers)[number];
  record?: boolean;
  size?: string;
  isolation?: Isolation;
  clockAt?: string;
  clockMode?: ClockMode;
  clockRate?: number;
  seed?: number;
  run?: string;
  buildHash?: string;
  model?: string;
  planned?: number;
  /** Seconds to wait until the session is ready; false for `--no-wait`. */
  wait: number | false;
  idempotencyKey?: string;
};

const readTask = async (context: Context, options: Options): Promise<OpenSessionBody['task']> => {
  const { task, taskFile, taskId: id, taskVersion: version } = options;
  if ([task, taskFile, id].filter((one) => one !== undefined).length > 1) {
    throw usageError('give only one of --task, --task-file and --task-id');
  }
  if (id !== undefined) return { id, ...(version === undefined ? {} : { version }) };
  if (taskFile === undefined) return task;
  return readTaskFile(context, taskFile);
};

const readClock = ({ clockAt, clockMode, clockRate }: Options): OpenSessionBody['clock'] => {
  if (clockAt === undefined && clockMode === undefined && clockRate === undefined) return undefined;
  return {
    ...(clockAt === undefined ? {} : { at: clockAt }),
    ...(clockMode === undefined ? {} : { mode: clockMode }),
    ...(clockRate === undefined ? {} : { rate: clockRate }),
  };
};

/** Returns the agent run that the session belongs to. */
const readRun = ({ run: id, buildHash, model, planned }: Options): OpenSessionBody['run'] => {
  if ((id === undefined) !== (buildHash === undefined)) {
    throw usageError('--run and --build-hash go together');
  }
  if (id === undefined || buildHash === undefined) {
    if ((model ?? planned) === undefined) return undefined;
    throw usageError('--model and --planned are of a run: name it with --run and --build-hash');
  }
  return {
    ...{ id, buildHash },
    ...(model === undefined ? {} : { model }),
    ...(planned === undefined ? {} : { planned }),
  };
};

const readBody = async (
  context: Context,
  given: string | undefined,
  options: Options,
): Promise<OpenSessionBody> => {
  const { taskId, version } = options;
  if (given === undefined && version !== undefined) {
    throw usageError('--version is of a world: name the world');
  }
  const world = given === undefined ? undefined : addressWith(given, version);
  if (world === undefined && options.versionId === undefined && taskId === undefined) {
    throw usageError(
      'name a world, or a version with --version-id, or a stored task with --task-id',
    );
  }
  const task = await readTask(context, options);
  const clock = readClock(options);
  const run = readRun(options);
  const { versionId, surface: surfaces, reuseWarm, tier: browserTier, seed } = options;
  const { size, isolation, record: browserRecording } = options;
  return {
    ...(world === undefined ? {} : { slug: world }),
    ...(versionId === undefined ? {} : { versionId }),
    ...(task === undefined ? {} : { task }),
    ...(surfaces === undefined ? {} : { surfaces }),
    ...(reuseWarm === undefined ? {} : { reuseWarm }),
    ...(browserTier === undefined ? {} : { browserTier }),
    ...(browserRecording === undefined ? {} : { browserRecording }),
    ...(size === undefined ? {} : { size }),
    ...(isolation === undefined ? {} : { isolation }),
    ...(clock === undefined ? {} : { clock }),
    ...(seed === undefined ? {} : { seed }),
    ...(run === undefined ? {} : { run }),
  };
};

const open = async (context: Context, body: OpenSessionBody, options: Options) => {
  const endsAt = performance.now() + (options.wait === false ? 0 : options.wait * 1_000);
  const client = clientFor(context, options);
  const key = options.idempotencyKey;
  const opened = await client.send(openSession, {
    body,
    query: { wait: firstWaitSeconds(options.wait) },
    headers: key === undefined ? {} : { 'idempotency-key': key },
  });
  return waitUntilReady({ client, session: opened.body, endsAt });
};

const refuseUnready = (session: SessionView, { wait }: Options): void => {
  if (wait === false || session.ready) return;
  const { id, state, error } = session;
  const why = error === null ? '' : `: ${error.message} [${error.code}]`;
  if (state === 'PROVISIONING' || state === 'READY') {
    const lacks = state === 'READY' ? ': its browser is not ready yet' : '';
    throw new AppError('timeout', `session ${id} was not ready after ${wait} s${lacks}`, {
      detail: { hint: `the session is still starting; see svc worlds session show ${id}` },
    });
  }
  throw new AppError('conflict', `session ${id} is ${state}${why}`);
};

export const addSessionOpen = (sessions: Command, context: Context): void => {
  const command = addCommand(sessions, {
    usage: 'open [world]',
    summary: 'open a session of a world and wait until it is ready',
    example: [
      'svc worlds session open code-hosting -t close-duplicate',
      'svc worlds session open code-hosting --task-file task.json --reuse-warm --json',
      'svc worlds session open code-hosting --clock-at 2026-03-01 --clock-mode stepped --seed 7',
    ].join('\n'),
  })
    .option('-t, --task <name>', 'a bundled task of the world')
    .option('--task-file <file>', 'a task of your own, as JSON; - reads standard input')
    .option(
      '--task-id <id>',
      'id of a stored task, which is opened in its own world unless another is named',
    )
    .option(
      '--task-version <number>',
      "number of the stored task's version",
      parseNumber({ min: 1, max: 1_000_000, whole: true }),
    )
    .option('--version-id <id>', "id of the world's version (default: the head)")
    .addOption(
      new Option('--surface <kind...>', 'a surface in addition to tools; repeatable').choices(
        surfaceKinds,
      ),
    )
    .option('--reuse-warm', 'prefer a host that has already loaded this version')
    .addOption(new Option('--tier <tier>', 'browser tier').choices(browserTiers))
    .option(
      '--record',
      'record the browser of the session; "svc worlds session recording <session>" downloads the recording',
    )
    .option('--size <name>', "size of the session's host, by the name of a pool's size")
    .addOption(
      new Option('--isolation <isolation>', "isolation that the session's host must have").choices(
        isolations,
      ),
    )
    .option('--clock-at <time>', 'initial time of the world, such as 2026-03-01T09:30:00Z')
    .addOption(
      new Option(
        '--clock-mode <mode>',
        "whether the world's time runs, is frozen, or steps",
      ).choices(clockModes),
    )
    .option(
      '--clock-rate <rate>',
      'seconds of the world for each real second or, if stepped, for each call',
      parseNumber({ min: 0, max: maxClockRate }),
    )
    .option(
      '--seed <integer>',
      'seed from which new ids are derived: the same seed and calls give the same ids',
      parseNumber({ min: 0, max: Number.MAX_SAFE_INTEGER, whole: true }),
    )
    .option('--run <id>', 'id of the agent run that the session belongs to; needs --build-hash')
    .option('--build-hash <hash>', 'hash of the build, as it was registered')
    .option('--model <name>', 'model that the run uses')
    .option(
      '--planned <n>',
      'planned number of rollouts of the run',
      parseNumber({ min: 1, max: 1_000_000, whole: true }),
    )
    .option(
      '--wait <seconds>',
      'maximum time until the session is ready, in seconds',
      parseNumber({ min: 0, max: 3_600 }),
      60,
    )
    .option('--no-wait', 'do not wait until the session is ready')
    .option(
      '--idempotency-key <key>',
      'key of this command: repeating it with the same key opens no second session',
    );
  withService(addWorldVersion(command)).action(
    async (world: string | undefined, options: Options) => {
      const body = await readBody(context, world, options);
      const session = await withProgress(
        { out: context.err, step: 'waiting for the session to be ready' },
        () => open(context, body, options),
      );
      printAnswer(context, options, session, (view) => describeSession(session, view));
      refuseUnready(session, options);
    },
  );
};
