/**
 * An agent's command, run in a shell to its end or for as long as it may take. What it prints goes on as it comes, and
 * the beginning and the end of it are kept. The command has a process group of its own, so that nothing it started
 * outlives it when it is ended.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { agentOutputLimits as limits } from '#domain/agent-end.ts';
import type { Env } from '#runtime/env.ts';

/** The end of a command, and what it printed. */
export type AgentExit = {
  exitCode: number | null;
  signal: string | null;
  hasTimedOut: boolean;
  seconds: number;
  /** Its last lines on standard error. */
  lastLines: string[];
  output: string;
  outputCut: boolean;
};

export type AgentCommand = {
  command: string;
  env: Env;
  cwd: string;
  signal: AbortSignal;
  /** Undefined: as long as it takes. */
  timeoutSeconds?: number | undefined;
  say(text: string): void;
};

/** Keys of the caller, with which an agent could read the graders of its task. */
const callerKeys = ['SVC_PUBLIC_KEY', 'SVC_SECRET_KEY', 'SVC_API_TOKEN'];

/** Returns the environment of an agent: the caller's without its keys, and what the agent is given. */
export const envOfAgent = (caller: Env, given: Record<string, string>): Env => ({
  ...Object.fromEntries(Object.entries(caller).filter(([name]) => !callerKeys.includes(name))),
  ...given,
});

/** From being asked to end until it is killed. */
const graceMs = 5_000;

const cutText = '\n[… left out …]\n';
const startChars = limits.chars / 4;
const endChars = limits.chars - startChars - cutText.length;

/** Keeps the beginning and the end of what is printed. */
const keepOutput = () => {
  let start = '';
  let end = '';
  let isCut = false;
  return {
    add(text: string): void {
      const room = startChars - start.length;
      start += text.slice(0, room);
      end += text.slice(room);
      if (end.length <= 2 * endChars) return;
      end = end.slice(-endChars);
      isCut = true;
    },
    read(): Pick<AgentExit, 'output' | 'outputCut'> {
      const outputCut = isCut || end.length > endChars;
      const shown = outputCut ? `${start}${cutText}${end.slice(-endChars)}` : start + end;
      return { output: shown.toWellFormed(), outputCut };
    },
  };
};

/** Keeps the last lines of a stream. */
const keepLines = () => {
  const most = limits.lines * limits.lineChars;
  let tail = '';
  return {
    add(text: string): void {
      tail = (tail + text).slice(-most);
    },
    read: (): string[] =>
      tail
        .split('\n')
        .map((line) => line.trimEnd().slice(0, limits.lineChars).toWellFormed())
        .filter((line) => line !== '')
        .slice(-limits.lines),
  };
};

const follow = (stream: Readable, heard: (text: string) => void): void => {
  const decoder = new StringDecoder('utf8');
  const hear = (text: string): void => {
    if (text !== '') heard(text);
  };
  stream.on('data', (bytes: Buffer) => hear(decoder.write(bytes)));
  stream.on('end', () => hear(decoder.end()));
};

const isGone = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'ESRCH';

/** Signals the command with all that it started. */
const signalGroup = ({ pid }: ChildProcess, signal: NodeJS.Signals): void => {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch (error) {
    if (!isGone(error)) throw error;
  }
};

/** Ends the command when it is aborted or its time is over; returns what says so, and what ends the watch. */
const watchTime = (child: ChildProcess, { signal, timeoutSeconds }: AgentCommand) => {
  let hasTimedOut = false;
  let killing: NodeJS.Timeout | undefined;
  const kill = (): void => {
    signalGroup(child, 'SIGKILL');
    // A process that left the group may hold them open for as long as it likes.
    child.stdout?.destroy();
    child.stderr?.destroy();
  };
  const end = (): void => {
    signalGroup(child, 'SIGTERM');
    killing ??= setTimeout(kill, graceMs);
  };
  const timeOut = (): void => {
    hasTimedOut = true;
    end();
  };
  const timer =
    timeoutSeconds === undefined ? undefined : setTimeout(timeOut, timeoutSeconds * 1_000);
  signal.addEventListener('abort', end, { once: true });
  return {
    hasTimedOut: () => hasTimedOut,
    stop(): void {
      clearTimeout(timer);
      clearTimeout(killing);
      signal.removeEventListener('abort', end);
    },
  };
};

/** Runs the command to its end. Throws when no shell can be started for it, and when it was aborted. */
export const runAgent = async (agent: AgentCommand): Promise<AgentExit> => {
  const { command, env, cwd, signal, say } = agent;
  signal.throwIfAborted();
  const beganAt = performance.now();
  const stdio: ['ignore', 'pipe', 'pipe'] = ['ignore', 'pipe', 'pipe'];
  const child = spawn(command, { shell: true, detached: true, cwd, env, stdio });
  const [output, lines] = [keepOutput(), keepLines()];
  const hear = (text: string): void => {
    output.add(text);
    say(text);
  };
  follow(child.stdout, hear);
  follow(child.stderr, (text) => {
    lines.add(text);
    hear(text);
  });
  const watch = watchTime(child, agent);
  try {
    const [exitCode, killedBy] = (await once(child, 'close')) as [number | null, string | null];
    signal.throwIfAborted();
    const seconds = (performance.now() - beganAt) / 1_000;
    const ended = { exitCode, signal: killedBy, hasTimedOut: watch.hasTimedOut(), seconds };
    return { ...ended, lastLines: lines.read(), ...output.read() };
  } finally {
    watch.stop();
  }
};
