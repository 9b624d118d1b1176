/**
 * Runs a PostgreSQL server on one data directory: initialises the directory once, starts the server on 127.0.0.1, and
 * stops it. Only the caller uses the server. It has one superuser, listens only on TCP and requires a password.
 * A server that a killed caller left on the directory is stopped first. `lock.ts` prevents two callers.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import {
  appendFileSync,
  closeSync,
  existsSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { AppError } from '#domain/error.ts';
import { newSecret } from '#domain/id.ts';
import { makeFoldersSync } from '#runtime/folders.ts';
import { pause, until } from '#runtime/pause.ts';
import { freeSpaceHint } from './folder.ts';
import { findFreePort } from './free-port.ts';
import { findPostgresBinaries, type PostgresBinaries } from './postgres-binaries.ts';
import { choosePostgresUser, giveDirectory, giveFile, type PostgresUser } from './postgres-user.ts';
import { commandLine, isRunning, sendSignal } from './processes.ts';

type PostgresOptions = {
  /** Data directory. If it does not exist, it is created, including the folders above it. */
  dataDir: string;
  /** Password of the superuser `svc`. Absent: a new password is chosen, which works only for a new data directory. */
  password?: string;
  /** Port to listen on; absent: any free port. */
  port?: number;
  /** Server settings in addition to the defaults, for example `{ fsync: 'off' }`. */
  flags?: Record<string, string>;
  /** Log file of the server; default `<dataDir>.log`. */
  logFile?: string;
};

export type PostgresServer = {
  port: number;
  pid: number;
  /** Connection string of a database; default `postgres`, which always exists. */
  url(database?: string): string;
  /** Resolves when the server has ended, by `stop` or by itself. */
  ended: Promise<void>;
  /**
   * Ends all connections, writes a checkpoint, and ends. If that takes longer than `stopDeadlineMs`, the server is shut
   * down immediately.
   */
  stop(): Promise<void>;
};

const superuser = 'svc';
const startDeadlineMs = 60_000;
const stopDeadlineMs = 3_000;
const logKeptBytes = 8 * 1024 * 1024;
const portAttempts = 3;

/** Default settings. They are small, because the containers run on the same machine, which serves a single user. */
const defaultFlags: Record<string, string> = {
  unix_socket_directories: '',
  listen_addresses: '127.0.0.1',
  max_connections: '100',
  shared_buffers: '128MB',
  max_wal_size: '256MB',
  wal_level: 'minimal',
  max_wal_senders: '0',
  jit: 'off',
  lc_messages: 'C',
};

type Command = { user: PostgresUser; binaries: PostgresBinaries; dataDir: string; logFile: string };

/** Spawns a binary as the chosen user, in a process group of its own, and appends its output to the log. */
const spawnLogged = (command: Command, binary: string, args: string[]): ChildProcess => {
  const [program = binary, ...rest] = [...command.user.prefix, binary, ...args];
  const log = openSync(command.logFile, 'a', 0o600);
  try {
    return spawn(program, rest, {
      ...command.user.ids,
      cwd: '/',
      env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C', TZ: 'UTC' },
      stdio: ['ignore', log, log],
      detached: true,
    });
  } finally {
    closeSync(log);
  }
};

const whenEnded = (child: ChildProcess): Promise<void> =>
  new Promise((resolveEnd, reject) => {
    child.once('error', (cause) =>
      reject(
        new AppError('unavailable', `PostgreSQL cannot be run (${child.spawnfile})`, { cause }),
      ),
    );
    child.once('exit', () => resolveEnd());
  });

/** Returns a hint: to free disk space if the disk is full, or else to read the log. */
const wayOut = (why: string, logFile: string): { hint: string } => ({
  hint: /No space left|Disk quota/.test(why) ? freeSpaceHint : `see its log for more: ${logFile}`,
});

/** Returns the failure that the log shows after an offset: its last FATAL, PANIC or error line. */
const readFailure = (logFile: string, from: number): string => {
  const lines = readFileSync(logFile).subarray(from).toString('utf8').trim().split('\n');
  const failure = lines.findLast((line) => /FATAL|PANIC|error:/.test(line)) ?? lines.at(-1) ?? '';
  return failure.replace(/^.*?(FATAL|PANIC):\s*/, '').trim();
};

const logSize = (logFile: string): number => (existsSync(logFile) ? statSync(logFile).size : 0);

/** Creates the directory under a temporary name and renames it, so that an existing directory is complete. */
const initialise = async (command: Command, password: string): Promise<void> => {
  const { dataDir, logFile, user } = command;
  const draft = `${dataDir}.new`;
  const passwordFile = `${dataDir}.password`;
  rmSync(draft, { recursive: true, force: true });
  makeFoldersSync(draft, { mode: 0o700 });
  writeFileSync(passwordFile, password, { mode: 0o600 });
  try {
    giveDirectory(user, draft);
    giveFile(user, passwordFile);
    const from = logSize(logFile);
    const child = spawnLogged(command, command.binaries.initdb, [
      ...['-D', draft, '-U', superuser, `--pwfile=${passwordFile}`, '--auth=scram-sha-256'],
      ...['--encoding=UTF8', '--locale=C', '--locale-provider=builtin'],
      ...['--builtin-locale=C.UTF-8', '--no-instructions'],
    ]);
    await whenEnded(child);
    if (child.exitCode !== 0) {
      const why = readFailure(logFile, from);
      throw new AppError('unavailable', `PostgreSQL cannot initialise ${dataDir}: ${why}`, {
        detail: wayOut(why, logFile),
      });
    }
    renameSync(draft, dataDir);
  } finally {
    rmSync(passwordFile, { force: true });
    rmSync(draft, { recursive: true, force: true });
  }
};

type PidFile = { pid: number; dataDir: string; ready: boolean };

const readPidFile = (dataDir: string): PidFile | undefined => {
  const file = join(dataDir, 'postmaster.pid');
  if (!existsSync(file)) return undefined;
  const lines = readFileSync(file, 'utf8').split('\n');
  const pid = Number(lines[0]);
  if (!Number.isInteger(pid) || pid <= 0) return undefined;
  return { pid, dataDir: lines[1] ?? '', ready: lines[7]?.trim() === 'ready' };
};

/**
 * Stops a process by a fast shutdown; if it does not end, by an immediate shutdown, from which the next start recovers;
 * then by SIGKILL.
 */
const stopProcess = async (pid: number): Promise<void> => {
  for (const name of ['SIGINT', 'SIGQUIT', 'SIGKILL'] as const) {
    sendSignal(pid, name);
    const endsAt = performance.now() + stopDeadlineMs;
    while (performance.now() < endsAt) {
      if (!isRunning(pid)) return;
      await pause(10);
    }
  }
  throw new AppError(
    'unavailable',
    `PostgreSQL (process ${pid}) does not end, not even when killed`,
  );
};

/**
 * Stops the server that a killed process left on a data directory. The server is identified by `postmaster.pid` and by
 * a command line that names this directory; other processes are left alone. Returns true if there was such a server.
 */
const stopLeftOverPostgres = async (dataDir: string): Promise<boolean> => {
  const found = readPidFile(resolve(dataDir));
  if (found === undefined || !isRunning(found.pid)) return false;
  if (!commandLine(found.pid).includes(`-D ${resolve(dataDir)} `)) return false;
  await stopProcess(found.pid);
  return true;
};

const launch = async (
  command: Command,
  port: number,
  flags: Record<string, string>,
): Promise<{ child: ChildProcess; pid: number; ended: Promise<void> }> => {
  const from = logSize(command.logFile);
  const settings = Object.entries({ ...defaultFlags, port: String(port), ...flags });
  const child = spawnLogged(command, command.binaries.postgres, [
    ...['-D', command.dataDir],
    ...settings.flatMap(([name, value]) => ['-c', `${name}=${value}`]),
  ]);
  const ended = whenEnded(child);
  const hasEnded = ended.then(() => true as const);
  const isReady = async (): Promise<boolean> => {
    if (child.exitCode !== null || child.signalCode !== null) return true;
    const file = readPidFile(command.dataDir);
    return file?.pid === child.pid && file?.ready === true;
  };
  await Promise.race([
    hasEnded,
    until(isReady, { timeoutMs: startDeadlineMs, what: 'PostgreSQL is starting' }),
  ]);
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) {
    const why = readFailure(command.logFile, from);
    throw new AppError('unavailable', `PostgreSQL did not start: ${why}`, {
      detail: wayOut(why, command.logFile),
    });
  }
  return { child, pid: child.pid, ended };
};

const launchOnFreePort = async (command: Command, options: PostgresOptions) => {
  for (let attempt = 1; ; attempt += 1) {
    const port = options.port ?? (await findFreePort());
    try {
      return { port, ...(await launch(command, port, options.flags ?? {})) };
    } catch (error) {
      const lostRace = error instanceof AppError && /listen|TCP\/IP socket/.test(error.message);
      if (!lostRace || options.port !== undefined || attempt === portAttempts) throw error;
      appendFileSync(command.logFile, `port ${port} was taken meanwhile; trying another\n`);
    }
  }
};

const trimLog = (logFile: string): void => {
  if (logSize(logFile) > logKeptBytes) renameSync(logFile, `${logFile}.old`);
};

/**
 * Starts a server and resolves once it accepts connections. Throws `unavailable` with the server's reason if it does
 * not start.
 */
export const startPostgres = async (options: PostgresOptions): Promise<PostgresServer> => {
  const dataDir = resolve(options.dataDir);
  const logFile = options.logFile ?? `${dataDir}.log`;
  const password = options.password ?? newSecret('pg');
  makeFoldersSync(dirname(dataDir));
  trimLog(logFile);
  await stopLeftOverPostgres(dataDir);
  const user = choosePostgresUser();
  const command = { user, binaries: await findPostgresBinaries(), dataDir, logFile };
  if (existsSync(join(dataDir, 'PG_VERSION'))) giveDirectory(user, dataDir);
  else await initialise(command, password);
  const { port, pid, ended } = await launchOnFreePort(command, options);
  return {
    port,
    pid,
    ended,
    url: (database = 'postgres') =>
      `postgresql://${superuser}:${encodeURIComponent(password)}@127.0.0.1:${port}/${encodeURIComponent(database)}`,
    async stop() {
      await stopProcess(pid);
      await ended;
    },
  };
};
