/**
 * Runs the demo: one world session from start to end, on the real programs, in ten steps. Each step checks its result
 * and throws if the result is wrong. The demo always stops all programs at the end.
 */
import { mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Secret } from '#runtime/secret.ts';
import { clientOf } from '../service/client.ts';
import type { Context } from '../terminal/context.ts';
import { formatDuration } from '../terminal/print.ts';
import type { Stopping } from '../terminal/stopping.ts';
import type { RuntimeWish } from '../up/runtime.ts';
import type { Up } from '../up/up.ts';
import { actAsAgent } from './act-as-agent.ts';
import { taskName, worldSlug } from './demo-data.ts';
import { gradeAfter, gradeBefore } from './grade-steps.ts';
import { checkTools, startService, stopEverything, waitForHosts } from './service-steps.ts';
import { createWorld, openSession, reuseHost } from './session-steps.ts';
import { createTimeline, type Timeline } from './timeline.ts';

type DemoOptions = { context: Context; runtime: RuntimeWish; stopping: Stopping };

const poolSize = 2;
const shownLogLines = 12;

/** Runs the steps between the start and the end of the service. */
const useService = async (timeline: Timeline, up: Up, options: DemoOptions): Promise<void> => {
  const { context, stopping } = options;
  const { signal } = stopping;
  const { publicKey, secretKey } = up.secrets;
  const found = { source: 'demo', urlSource: 'demo' };
  const connection = { url: up.url, publicKey, secretKey: new Secret(secretKey), ...found };
  const client = clientOf(connection);
  await timeline.step(`Create the world ${worldSlug} from its folder`, (step) =>
    createWorld(step, client, context),
  );
  await timeline.step('Wait until the pool of world hosts is warm', (step) =>
    waitForHosts(step, up, poolSize, signal),
  );
  const first = await timeline.step(`Open a session on the task ${taskName}`, (step) =>
    openSession(step, { client, reuseWarm: false, signal }),
  );
  const { session } = first;
  const grading = { client, sessionId: session.id, colors: context.colors, signal };
  await timeline.step('Grade before anything is done: it must fail', (step) =>
    gradeBefore(step, grading),
  );
  await timeline.step("Do the task, through tools and the vendor's own client", (step) =>
    actAsAgent(step, { client, session, signal }),
  );
  await timeline.step('Grade again: it must pass', (step) => gradeAfter(step, grading));
  await timeline.step(
    'Close the session, keep its host warm, open another session on the host',
    (step) => reuseHost(step, { client, up, first, signal }),
  );
};

/** Prints the last warnings and errors of each program, because its log files are removed with the folder. */
const showLogs = (context: Context, up: Up): void => {
  for (const name of readdirSync(up.folder.logDir)) {
    const lines = readFileSync(join(up.folder.logDir, name), 'utf8').trim().split('\n');
    const faults = lines.filter((line) => /"level":"(warn|error)"|ERROR|FATAL|PANIC/.test(line));
    if (faults.length === 0) continue;
    context.err.write(`\n${name}:\n${faults.slice(-shownLogLines).join('\n')}\n`);
  }
};

/** Stops the service; at a second stop signal, kills it. In both cases, removes what is left. */
const stopOrKill = async (up: Up, { forced }: Stopping): Promise<void> => {
  const isForced = forced.then(() => true);
  if (!(await Promise.race([up.stop().then(() => false), isForced]))) return;
  up.kill();
  await up.dismantle();
};

const play = async (timeline: Timeline, data: string, options: DemoOptions): Promise<void> => {
  const { context, runtime, stopping } = options;
  const { signal } = stopping;
  await timeline.step('Check the requirements', (step) => checkTools(step, context.env));
  const up = await timeline.step('Start PostgreSQL, the control plane, the orchestrator', (step) =>
    startService(step, { context, data, runtime, poolSize, signal }),
  );
  try {
    await useService(timeline, up, options);
    await timeline.step('Stop everything', (step) => stopEverything(step, up, context.env));
  } catch (error) {
    if (!signal.aborted) showLogs(context, up);
    if (signal.aborted) timeline.line('\ninterrupted; stopping everything');
    await stopOrKill(up, stopping);
    throw error;
  }
};

/** Text that suggests the next step to the user. */
const nextStep = `
Next: ./svc up                 # run the same service permanently
      README.md, Five minutes  # the same steps by hand`;

/** Runs the demo. After everything was stopped, rethrows the error of the failed step. */
export const runDemo = async (options: DemoOptions): Promise<void> => {
  const { context, stopping } = options;
  const startedAt = performance.now();
  const timeline = createTimeline(context);
  const data = mkdtempSync(join(tmpdir(), 'svc-demo-'));
  timeline.line(context.colors.bold('svc demo: one world session, end to end'));
  try {
    await play(timeline, data, options);
  } finally {
    await rm(data, { recursive: true, force: true, maxRetries: 10 });
  }
  stopping.signal.throwIfAborted();
  const took = formatDuration(performance.now() - startedAt);
  timeline.line(`\n${context.colors.green('every step passed')} after ${took}`);
  timeline.line(nextStep);
};
