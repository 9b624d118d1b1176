/**
 * Starts the Python worker. It is isolated from installed packages (`-P -s -S`: no site packages, so that code finds
 * the same modules on every machine), and has environment variables of its own, which also fix the order of sets.
 * Before it reads code, it enters the sandbox (`svc_boundary/`).
 */
import { execFile } from 'node:child_process';
import { closeSync, existsSync, openSync, readSync, realpathSync } from 'node:fs';
import { delimiter, join, relative } from 'node:path';
import { promisify } from 'node:util';
import { AppError } from '#domain/error.ts';
import {
  type BoundaryMode,
  cleanEnvironment,
  isolated,
  packageRoot,
} from '../boundary/boundary.ts';
import type { WorkerKind } from '../boundary/worker-kind.ts';
import type { TraceFrame, UserCodeLimits } from '../run.ts';

/** Returns true if a file is a Linux executable (ELF), and not a script that starts one. */
const isProgram = (file: string): boolean => {
  const opened = openSync(file, 'r');
  try {
    const start = Buffer.alloc(4);
    readSync(opened, start, 0, 4, 0);
    return start.toString('latin1') === '\x7fELF';
  } finally {
    closeSync(opened);
  }
};

const findCommand = (command: string, searchPath: string): string | undefined => {
  if (command.includes('/')) return existsSync(command) ? command : undefined;
  return searchPath
    .split(delimiter)
    .map((folder) => join(folder, command))
    .find((path) => existsSync(path));
};

/**
 * Finds the interpreter of a command by the command's file alone: in distributions, `python3` links to a program whose
 * name contains the version. Returns undefined if the file's name does not contain a supported version.
 */
const lookAtPython = (command: string, searchPath: string): string | undefined => {
  const path = findCommand(command, searchPath);
  if (path === undefined) return undefined;
  const file = realpathSync(path);
  const [, minor = ''] = /\/python3\.(\d+)$/.exec(file) ?? [];
  return Number(minor) >= 11 && isProgram(file) ? path : undefined;
};

/** Message for a host without Python: what the host cannot do, and the remedy. */
export const noPython =
  'this host has no Python 3.11 or later, so it runs no code in Python: install it, or name one in SVC_PYTHON, and start the service again';

/**
 * Returns the path of the interpreter that a command starts. The command may be a shim that needs environment
 * variables. The command is run only if its file's name does not contain the version, because a run delays the start of
 * the host. Commands are searched in `searchPath`, in the format of `PATH`. Throws `unavailable` if there is no Python,
 * or if it is older than Python 3.11.
 */
export const findPython = async (command: string, searchPath = ''): Promise<string> => {
  const seen = lookAtPython(command, searchPath);
  if (seen !== undefined) return seen;
  const probe = 'import sys; print(sys.executable); print(*sys.version_info[:2])';
  const { stdout } = await promisify(execFile)(command, ['-I', '-S', '-c', probe], {
    timeout: 15_000,
  }).catch((cause: unknown) => {
    throw new AppError('unavailable', `"${command}" does not run Python`, { cause });
  });
  const [executable = '', version = ''] = stdout.trim().split('\n');
  const [major = 0, minor = 0] = version.split(' ').map(Number);
  if (executable === '' || major < 3 || (major === 3 && minor < 11)) {
    const found = version.replace(' ', '.');
    throw new AppError('unavailable', `"${command}" is Python ${found}; worlds need 3.11 or later`);
  }
  return executable;
};

const frameLine = /^ {2}File "(.+)", line (\d+) in (.+)$/;

/**
 * Parses what Python's `faulthandler` prints when a run's time is over. In its text, the innermost frame of each thread
 * comes first.
 */
export const readTimeoutTrace = (stderr: string, directory: string): TraceFrame[] => {
  const start = stderr.search(/^(?:Current thread|Thread) 0x/m);
  if (start === -1) return [];
  const frames = stderr
    .slice(start)
    .split('\n')
    .flatMap((text): TraceFrame[] => {
      const [, path, line, name] = frameLine.exec(text) ?? [];
      if (path === undefined || !path.startsWith(`${directory}/`)) return [];
      return [{ file: relative(directory, path), line: Number(line), function: String(name) }];
    });
  return frames.reverse();
};

/**
 * Describes the Python worker: it is run by an interpreter that `findPython` returned, and may import from the given
 * folders of installed packages.
 */
export const pythonWorker = (
  executable: string,
  workDir: string,
  limits: UserCodeLimits,
  mode: BoundaryMode,
  libraries: readonly string[] = [],
): WorkerKind => {
  const start =
    'import sys; sys.path.insert(0, sys.argv[1]); from svc_env.worker import main; main()';
  const options = {
    parent: process.pid,
    boundary: mode,
    readable: [workDir, packageRoot, ...libraries],
    libraries,
    memory_bytes: limits.memoryMb * 1024 * 1024,
    message_bytes: limits.messageBytes,
  };
  return {
    language: 'python',
    isPrestarted: true,
    launch: {
      command: executable,
      arguments: [...isolated, '-c', start, packageRoot, JSON.stringify(options)],
      environment: {
        ...cleanEnvironment(workDir),
        // Without this variable, a set of texts would be ordered differently in each process.
        PYTHONHASHSEED: '0',
        // Without this variable, the C library would reserve 64 MiB of addresses for each thread, and never free them.
        MALLOC_ARENA_MAX: '1',
        // Without this variable, the C library would not return the memory of large messages to the system, and raise
        // the size from which on it returns memory.
        MALLOC_TRIM_THRESHOLD_: String(128 * 1024),
      },
      directory: workDir,
    },
    ownMb: 48,
    laterThreads: 0,
    lastSignal: 'SIGUSR1',
    readTimeoutTrace,
  };
};
