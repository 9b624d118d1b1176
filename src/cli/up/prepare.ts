/** Has the orchestrator get the Docker runtime ready: its network, and the image when it is outdated. */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { stripVTControlCharacters } from 'node:util';
import { AppError } from '#domain/error.ts';
import { sendSignal } from './processes.ts';
import { programs } from './programs.ts';

export type PreparedRuntime = {
  /** An address that the control plane has to listen on besides its own. */
  listen: string | null;
  /** How hosts name the machine of the control plane. */
  host: string;
  image: string | null;
};

export type PrepareOptions = {
  env: Record<string, string>;
  tell(step: string): void;
  signal: AbortSignal;
};

/** How long an interrupted preparation may take to clean up; then it and what it runs are killed. */
const killAfterMs = 3_000;

type Line = { progress?: string; ready?: boolean } & Partial<PreparedRuntime>;

/** Throws `unavailable` with the runtime's own reason, or the signal's reason. */
export const prepareDocker = async (options: PrepareOptions): Promise<PreparedRuntime> => {
  const { env, tell, signal } = options;
  const child = spawn(process.execPath, [programs.orchestrator, 'prepare'], {
    env: { ...env, SVC_RUNTIME: 'docker' },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  const { pid } = child;
  const onAbort = (): void => {
    child.kill('SIGTERM');
    const killGroup = (): void => {
      if (pid !== undefined) sendSignal(-pid, 'SIGKILL');
    };
    const timer = setTimeout(killGroup, killAfterMs);
    child.once('close', () => clearTimeout(timer));
  };
  signal.addEventListener('abort', onAbort, { once: true });
  let prepared: PreparedRuntime | undefined;
  let errors = '';
  child.stderr.on('data', (chunk: Buffer) => {
    errors = (errors + chunk.toString()).slice(-8_192);
  });
  const lines = createInterface({ input: child.stdout });
  lines.on('line', (text) => {
    const line = JSON.parse(text) as Line;
    if (line.progress !== undefined) tell(line.progress);
    if (line.ready === true) {
      const { listen = null, host = '127.0.0.1', image = null } = line;
      prepared = { listen, host, image };
    }
  });
  await new Promise<void>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', () => resolve());
  });
  signal.removeEventListener('abort', onAbort);
  signal.throwIfAborted();
  if (prepared !== undefined && child.exitCode === 0) return prepared;
  const told = stripVTControlCharacters(errors).trim().split('\n');
  const why = told.at(-1) || `prepare exited with ${child.exitCode}`;
  throw new AppError('unavailable', why);
};
