/**
 * Steps of the demo about the service. The requirements are met (1), the service starts in a new folder on any free
 * port (2), its pool becomes warm (4), and nothing of it remains on the machine (10).
 */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { promisify } from 'node:util';
import { AppError } from '#domain/error.ts';
import type { Env } from '#runtime/env.ts';
import type { Context } from '../terminal/context.ts';
import { formatCount, formatDuration, formatFields } from '../terminal/print.ts';
import { listContainers } from '../up/docker-engine.ts';
import { portProblem } from '../up/free-port.ts';
import { countWarm } from '../up/pool-look.ts';
import { findPostgresBinaries } from '../up/postgres-binaries.ts';
import { commandLine, findProcesses } from '../up/processes.ts';
import { findPythonVersion } from '../up/python.ts';
import type { RuntimeWish } from '../up/runtime.ts';
import { startUp, type Up } from '../up/up.ts';
import { expectEqual, type Step } from './timeline.ts';

const run = promisify(execFile);

const versionOf = async (command: string, way: string): Promise<string> => {
  try {
    const { stdout } = await run(command, ['--version']);
    return stdout.replace(/^\D*/, '').trim();
  } catch (cause) {
    throw new AppError('unavailable', `the command ${command} cannot be run`, {
      cause,
      detail: { hint: way },
    });
  }
};

export const checkTools = async (step: Step, env: Env): Promise<void> => {
  const pythonVersion = await findPythonVersion(env);
  const { postgres } = await findPostgresBinaries();
  step.note(
    formatFields([
      ['Node', process.versions.node],
      ['Python', pythonVersion],
      ['PostgreSQL', await versionOf(postgres, 'run "npm ci" again')],
    ]),
  );
};

type StartOptions = {
  context: Context;
  data: string;
  runtime: RuntimeWish;
  poolSize: number;
  signal: AbortSignal;
};

export const startService = async (step: Step, options: StartOptions): Promise<Up> => {
  const { context, data, runtime, poolSize, signal } = options;
  const up = await startUp({
    data,
    port: 0,
    runtime,
    poolSize,
    env: context.env,
    signal,
    showStep: step.showStep,
    say: step.note,
  });
  step.note(
    formatFields([
      ['API', up.url],
      ['runtime', `${context.colors.bold(up.runtime.runtime)}: ${up.runtime.why}`],
      ['data', up.folder.path],
    ]),
  );
  return up;
};

const deadlineMs = 90_000;

export const waitForHosts = async (
  step: Step,
  up: Up,
  count: number,
  signal: AbortSignal,
): Promise<void> => {
  const timeUp = AbortSignal.timeout(deadlineMs);
  let ids: string[] = [];
  try {
    await up.watchHosts(
      (hosts) => {
        step.showStep(`${countWarm(hosts)} of ${formatCount(count, 'world host')} warm`);
        ids = hosts.filter(({ state }) => state === 'warm').map(({ id }) => id);
        return ids.length >= count;
      },
      AbortSignal.any([signal, timeUp]),
    );
  } catch (error) {
    if (signal.aborted || !timeUp.aborted) throw error;
    const found = `${ids.length} of ${formatCount(count, 'world host')} warm`;
    throw new AppError('timeout', `${found} after ${formatDuration(deadlineMs)}`);
  }
  const kind = up.runtime.runtime === 'docker' ? 'container' : 'process';
  step.note(`${formatCount(ids.length, 'world host')} warm, each in its own ${kind}`);
  step.aside(ids.join('\n'));
};

/** Returns what an installation left on the machine, one text for each thing. */
const findLeftOvers = async (up: Up, env: Env): Promise<string[]> => {
  const { installation } = up.secrets;
  const pids = new Set([...findProcesses(installation), ...findProcesses(up.folder.path)]);
  const containers = up.runtime.runtime === 'docker' ? await listContainers(env, installation) : [];
  const port = Number(new URL(up.url).port);
  const problem = await portProblem(port);
  return [
    ...[...pids].map((pid) => `process ${pid} (${commandLine(pid)})`),
    ...containers.map((name) => `container ${name}`),
    ...(problem === undefined ? [] : [`port ${port} (${problem})`]),
    ...(existsSync(up.folder.path) ? [`folder ${up.folder.path}`] : []),
  ];
};

export const stopEverything = async (step: Step, up: Up, env: Env): Promise<void> => {
  step.showStep('stopping the service');
  await up.stop();
  await rm(up.folder.path, { recursive: true, force: true });
  expectEqual('what is left', await findLeftOvers(up, env), []);
  step.note('no container, process, port or folder of the service is left');
};
