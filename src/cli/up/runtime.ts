/**
 * The runtime of world hosts on this machine: which one is chosen, and what the orchestrator does for
 * `svc up` besides running. It gets the Docker runtime ready (network, image), and it removes what is left of
 * an installation whose programs have ended.
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
  /** For the user: why this one. */
  why: string;
};

/**
 * Decides. `engine` is only looked at when the wish is not `process`.
 * Throws `unavailable` when Docker is wished for and does not answer.
 */
export const chooseRuntime = (wish: RuntimeWish, engine: EngineAnswer): RuntimeChoice => {
  if (wish === 'process') return { runtime: 'process', why: 'asked for with --runtime' };
  if (engine.answers) {
    const why = wish === 'docker' ? 'asked for with --runtime' : 'an engine answers';
    return { runtime: 'docker', why: `${why}, version ${engine.version}` };
  }
  if (wish === 'auto') return { runtime: 'process', why: `no Docker engine (${engine.why})` };
  throw new AppError('unavailable', `no Docker engine answers (${engine.why})`, {
    detail: { hint: 'start it, name it with DOCKER_HOST, or use --runtime process' },
  });
};

/** What becomes of a choice whose runtime could not be made ready. Throws the reason when wished for. */
export const fallBack = (wish: RuntimeWish, reason: AppError): RuntimeChoice => {
  if (wish !== 'auto') throw reason;
  return { runtime: 'process', why: `Docker answers but cannot be used: ${reason.message}` };
};

export type PreparedRuntime = {
  /** An address at which the control plane has to serve its host API; null: loopback. */
  listen: string | null;
  /** How hosts name the machine of the control plane. */
  host: string;
  image: string | null;
};

type Command = {
  name: 'prepare' | 'dismantle';
  env: Record<string, string>;
  tell(step: string): void;
  signal?: AbortSignal;
};

/** How long an interrupted command may take to clean up; then it and what it runs are killed. */
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

/** Runs a command of the orchestrator to its end and answers the line that says so. */
const runCommand = async ({ name, env, tell, signal }: Command): Promise<ReadyLine> => {
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
    if ('progress' in line) tell(line.progress);
    else if ('ready' in line) ready = line;
  });
  await new Promise<void>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', () => resolve());
  });
  signal?.throwIfAborted();
  if (ready !== undefined && child.exitCode === 0) return ready;
  const told = stripVTControlCharacters(errors).trim().split('\n').at(-1);
  throw new AppError('unavailable', told || `${name} exited with ${child.exitCode}`);
};

export type PrepareOptions = Pick<Command, 'env' | 'tell'> & { signal: AbortSignal };

/** Throws `unavailable` with the runtime's own reason, or the signal's reason. */
export const prepareDocker = async (options: PrepareOptions): Promise<PreparedRuntime> => {
  const env = { ...options.env, SVC_RUNTIME: 'docker' };
  const line = await runCommand({ ...options, name: 'prepare', env });
  const { listen = null, host = '127.0.0.1', image = null } = line;
  return { listen, host, image };
};

/**
 * Removes every container, process, network and folder of an installation. Throws `unavailable` with the
 * runtime's own reason, or the signal's.
 */
export const dismantle = async (
  env: Record<string, string>,
  signal: AbortSignal,
): Promise<void> => {
  await runCommand({ name: 'dismantle', env, tell: () => undefined, signal });
};
