/**
 * Runs an agent's command in a shell until it ends or its time is over. Its output is passed on as it arrives; the
 * beginning and the end are also stored. The command has its own process group, so that its child processes end with
 * it.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { agentOutputLimits as limits } from '#domain/agent-end.ts';
import type { Env } from '#runtime/env.ts';

/** End of a command, and its output. */
export type AgentExit = {
  exitCode: number | null;
  signal: string | null;
  hasTimedOut: boolean;
  seconds: number;
  /** Last lines that the command wrote to standard error. */
  lastLines: string[];
  output: string;
  outputCut: boolean;
};

export type AgentCommand = {
  command: string;
  env: Env;
  cwd: string;
  signal: AbortSignal;
  /** Time limit in seconds; undefined: no limit. */
  timeoutSeconds?: number | undefined;
  say(text: string): void;
};

/** Variables with the caller's keys, with which an agent could read the graders of its task. */
const callerKeys = ['SVC_PUBLIC_KEY', 'SVC_SECRET_KEY', 'SVC_API_TOKEN'];

/** Returns the environment of an agent: the caller's environment without its keys, with the given variables added. */
export const envOfAgent = (caller: Env, given: Record<string, string>): Env => ({
  ...Object.fromEntries(Object.entries(caller).filter(([name]) => !callerKeys.includes(name))),
  ...given,
});

/** Time from SIGTERM to SIGKILL, in milliseconds. */
const graceMs = 5_000;

const cutText = '\n[… left out …]\n';
const startChars = limits.chars / 4;
const endChars = limits.chars - startChars - cutText.length;

/** Stores only the beginning and the end of the output. */
const keepOutput = () => {
  let start = '';
  let end = '';
  let isCut = false;
  return {
    add(text: string): void {
      const free = startChars - start.length;
      start += text.slice(0, free);
      end += text.slice(free);
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

/** Stores only the last lines of a stream. */
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

/** Signals the command with all processes in its group. */
const signalGroup = ({ pid }: ChildProcess, signal: NodeJS.Signals): void => {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch (error) {
    if (!isGone(error)) throw error;
  }
};

/**
 * Ends the command when the signal aborts or its time is over. Returns two functions: `hasTimedOut` returns true if the
 * time was over; `stop` ends the watch.
 */
const watchTime = (child: ChildProcess, { signal, timeoutSeconds }: AgentCommand) => {
  let hasTimedOut = false;
  let killing: NodeJS.Timeout | undefined;
  const kill = (): void => {
    signalGroup(child, 'SIGKILL');
    // A process that left the group may keep the streams open indefinitely.
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

/** Runs the command to its end. Throws if no shell can be started, or if the signal aborts. */
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
