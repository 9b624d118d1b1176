/**
 * Chooses the runtime of world hosts on this machine, and runs the orchestrator's one-off commands for `svc up`. One
 * command prepares the Docker runtime (network, image). The other removes the remains of an installation whose programs
 * have ended.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { stripVTControlCharacters } from 'node:util';
import { AppError } from '#domain/error.ts';
import type { ReadyLine } from '#wire/program-lines/lines.ts';
import { readProgramLine } from '#wire/program-lines/read.ts';
import type { EngineAnswer } from './docker-engine.ts';
import { sendSignal } from './processes.ts';
import { programs } from './programs.ts';

export const runtimeWishes = ['auto', 'docker', 'process'] as const;
export type RuntimeWish = (typeof runtimeWishes)[number];

export type RuntimeChoice = {
  runtime: 'docker' | 'process';
  /** Reason for the choice, for the user. */
  why: string;
};

/**
 * Chooses the runtime. If `process` is requested, `engine` is ignored. Throws `unavailable` if Docker is requested but
 * does not answer.
 */
export const chooseRuntime = (wish: RuntimeWish, engine: EngineAnswer): RuntimeChoice => {
  if (wish === 'process') return { runtime: 'process', why: 'requested with --runtime' };
  if (engine.answers) {
    const why = wish === 'docker' ? 'requested with --runtime' : 'a Docker engine answers';
    return { runtime: 'docker', why: `${why}, version ${engine.version}` };
  }
  if (wish === 'auto') return { runtime: 'process', why: `no Docker engine (${engine.why})` };
  throw new AppError('unavailable', `no Docker engine answers (${engine.why})`, {
    detail: { hint: 'start the engine, set DOCKER_HOST to its address, or use --runtime process' },
  });
};

/** Returns another choice after the runtime could not be prepared. If that runtime was requested, throws the reason. */
export const fallBack = (wish: RuntimeWish, reason: AppError): RuntimeChoice => {
  if (wish !== 'auto') throw reason;
  return { runtime: 'process', why: `Docker answers but cannot be used: ${reason.message}` };
};

export type PreparedRuntime = {
  /** Address on which the control plane has to serve its host API; null: loopback. */
  listen: string | null;
  /** Name by which hosts reach the machine of the control plane. */
  host: string;
  image: string | null;
};

type Command = {
  name: 'prepare' | 'dismantle';
  env: Record<string, string>;
  showStep(step: string): void;
  signal?: AbortSignal;
};

/**
 * Maximum time for an interrupted command to clean up, in milliseconds. After it, the command and its child processes
 * are killed.
 */
const killAfterMs = 3_000;
const keptErrorBytes = 8_192;

const endOnAbort = (child: ChildProcess, signal: AbortSignal): void => {
  const { pid } = child;
  if (pid === undefined) return;
  const onAbort = (): void => {
    child.kill('SIGTERM');
    const timer = setTimeout(() => sendSignal(-pid, 'SIGKILL'), killAfterMs);
    child.once('close', () => clearTimeout(timer));
  };
  signal.addEventListener('abort', onAbort, { once: true });
  child.once('close', () => signal.removeEventListener('abort', onAbort));
};

/** Runs a command of the orchestrator to its end, and returns its last line, which reports success. */
const runCommand = async ({ name, env, showStep, signal }: Command): Promise<ReadyLine> => {
  const child = spawn(process.execPath, [programs.orchestrator, name], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  if (signal !== undefined) endOnAbort(child, signal);
  let errors = '';
  child.stderr.on('data', (chunk: Buffer) => {
    errors = (errors + chunk.toString()).slice(-keptErrorBytes);
  });
  let ready: ReadyLine | undefined;
  createInterface({ input: child.stdout }).on('line', (text) => {
    const line = readProgramLine(text);
    if (line === undefined) return;
    if ('progress' in line) showStep(line.progress);
    else if ('ready' in line) ready = line;
  });
  await new Promise<void>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', () => resolve());
  });
  signal?.throwIfAborted();
  if (ready !== undefined && child.exitCode === 0) return ready;
  const reason = stripVTControlCharacters(errors).trim().split('\n').at(-1);
  throw new AppError(
    'unavailable',
    reason || `the orchestrator's command ${name} exited with status ${child.exitCode}`,
  );
};

export type PrepareOptions = Pick<Command, 'env' | 'showStep'> & { signal: AbortSignal };

/** Prepares the Docker runtime. Throws `unavailable` with the runtime's reason, or the signal's reason. */
export const prepareDocker = async (options: PrepareOptions): Promise<PreparedRuntime> => {
  const env = { ...options.env, SVC_RUNTIME: 'docker' };
  const line = await runCommand({ ...options, name: 'prepare', env });
  const { listen = null, host = '127.0.0.1', image = null } = line;
  return { listen, host, image };
};

/**
 * Removes every container, process, network and folder of an installation. Throws `unavailable` with the runtime's
 * reason, or the signal's reason.
 */
export const dismantle = async (
  env: Record<string, string>,
  signal: AbortSignal,
): Promise<void> => {
  await runCommand({ name: 'dismantle', env, showStep: () => undefined, signal });
};
