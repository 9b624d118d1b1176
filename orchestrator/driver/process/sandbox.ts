/**
 * Builds the sandbox of hosts on the process runtime, with bubblewrap where it is installed. A host sees only programs
 * and this tree's code (both read-only), its own folder, and no other process. The sandbox does not restrict the
 * network, nor limit processors and processes; that takes containers.
 *
 * A host continues when the orchestrator ends, so bubblewrap's "die with parent" is tied to a shell that only waits.
 * Killing that shell, the first process of the host, kills all of the host. Shell and bubblewrap ignore SIGTERM; it
 * reaches the host's program, which ends in its own time.
 */
import { execFile } from 'node:child_process';
import { existsSync, readlinkSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { AppError, describeError } from '#domain/error.ts';
import type { Python } from './python.ts';

const run = promisify(execFile);

/** Choices of a sandbox; `auto`: bubblewrap where it works. */
export const sandboxChoices = ['auto', 'bubblewrap', 'none'] as const;
export type SandboxChoice = (typeof sandboxChoices)[number];

/** Parts of this machine that a host may see, all of them read-only. */
export type Visible = {
  /** Root of the tree that hosts run from. */
  root: string;
  /** Visible files and folders, relative to the root. */
  code: readonly string[];
  /** Python that hosts may see; undefined if this machine has none. */
  python: Python | undefined;
  /** PATH on which programs are found. */
  path: string;
};

/** A sandbox that was tested here, or `none` with the consequence for operators who run untrusted code. */
export type Sandbox =
  | { kind: 'bubblewrap'; arguments: readonly string[]; python: string | undefined; says: string }
  | { kind: 'none'; says: string };

/** User id that a host sees as its own. To the kernel it stays the orchestrator's. */
const userId = '10001';
const probeTimeoutMs = 15_000;
const mebibyte = 1024 * 1024;

const systemFolders = ['bin', 'sbin', 'lib', 'lib32', 'lib64'];
/** Entries of /etc that programs read to find their libraries, names and certificates. */
const settings = [
  'alternatives',
  'ca-certificates',
  'hosts',
  'ld.so.cache',
  'ld.so.conf',
  'ld.so.conf.d',
  'localtime',
  'nsswitch.conf',
  'pki',
  'resolv.conf',
  'ssl',
];

/** Returns the last line of a failed command's output, or why it could not be run. */
const reasonOf = (error: unknown): string => {
  const output = (error as { stderr?: string }).stderr?.trim().split('\n').at(-1) ?? '';
  return output === ''
    ? describeError(error)
        .trim()
        .replaceAll(/\s*\n\s*/g, ' ')
    : output;
};

/** Returns `--ro-bind` of a path to itself, if it exists; a link is bound as its target. */
const bind = (path: string): string[] =>
  existsSync(path) ? ['--ro-bind', realpathSync(path), path] : [];

/**
 * Returns the arguments for a system folder in the form that it has on this machine: a link into /usr, or a folder of
 * its own.
 */
const bindSystem = (name: string): string[] => {
  const path = `/${name}`;
  if (!existsSync(path)) return [];
  try {
    return ['--symlink', readlinkSync(path), path];
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EINVAL') return bind(path);
    throw error;
  }
};

const isSystem = (path: string): boolean => path === '/' || /^\/usr(\/|$)/.test(path);

const argumentsOf = (visible: Visible): string[] => {
  const { python } = visible;
  const ofPython = python === undefined ? [] : [python.executable, ...python.prefixes];
  const programs = [process.execPath, ...ofPython];
  const own = new Set(programs.filter((path) => !isSystem(path)));
  return [
    ...['--unshare-user', '--uid', userId, '--gid', userId, '--disable-userns'],
    ...['--unshare-pid', '--unshare-ipc', '--unshare-uts', '--unshare-cgroup-try'],
    ...['--cap-drop', 'ALL', '--die-with-parent'],
    ...bind('/usr'),
    ...systemFolders.flatMap(bindSystem),
    ...bind('/nix/store'),
    ...settings.flatMap((name) => bind(join('/etc', name))),
    ...['--proc', '/proc', '--dev', '/dev'],
    ...['--size', String(128 * mebibyte), '--tmpfs', '/tmp'],
    ...[...own].flatMap(bind),
    ...visible.code.flatMap((name) => bind(join(visible.root, name))),
  ];
};

/** Shell script that waits for the host; see the head of this file. */
const keeper = 'trap "" TERM INT HUP; ulimit -c 0; "$@"; exit $?';

/**
 * Builds the command line that runs a command inside the sandbox. The command's working folder is the first of
 * `folders`, and it can write to these folders only.
 */
export const sandboxed = (
  sandbox: Extract<Sandbox, { kind: 'bubblewrap' }>,
  folders: readonly string[],
  command: readonly string[],
): string[] => {
  const writable = folders.flatMap((folder) => ['--bind', folder, folder]);
  const own = [...writable, '--remount-ro', '/', '--chdir', folders[0] ?? '/'];
  return ['/bin/sh', '-c', keeper, 'sh', 'bwrap', ...sandbox.arguments, ...own, '--', ...command];
};

const isolates =
  'hosts see no other process and no file but programs, their code, their folder and the unpacked snapshots that they share';
const doesNot =
  'does not isolate the network (loopback included) or bound processors: not for untrusted worlds';

/** Checks that bubblewrap works here, with Node inside, and Python if there is one. */
const probe = async (visible: Visible): Promise<Sandbox> => {
  const python = visible.python?.executable;
  const sandbox = {
    kind: 'bubblewrap',
    arguments: argumentsOf(visible),
    python,
    says: `hosts are processes in bubblewrap: ${isolates}; it ${doesNot}`,
  } as const;
  const script = `"$1" --version${python === undefined ? '' : ' && "$2" -I -S -c ""'}`;
  const command = ['sh', '-c', script, 'sh', process.execPath, python ?? ''];
  const [shell = '', ...words] = sandboxed(sandbox, [dirname(process.execPath)], command);
  await run(shell, words, { env: { PATH: visible.path }, timeout: probeTimeoutMs });
  return sandbox;
};

/**
 * Returns the sandbox for hosts that run from this source tree. Throws `unavailable` with the reason when bubblewrap is
 * configured and does not work here.
 */
export const findSandbox = async (choice: SandboxChoice, visible: Visible): Promise<Sandbox> => {
  const none = (why: string): Sandbox => ({
    kind: 'none',
    says: `hosts are plain processes (${why}): they can read each other's files and memory; this ${doesNot}`,
  });
  if (choice === 'none') return none('SVC_PROCESS_SANDBOX is none');
  try {
    return await probe(visible);
  } catch (cause) {
    const why = `bubblewrap does not work here: ${reasonOf(cause)}`;
    if (choice === 'auto') return none(why);
    const wayOut = 'mend that (Debian: the package bubblewrap), or set SVC_PROCESS_SANDBOX=none';
    throw new AppError('unavailable', `${why}; ${wayOut}`);
  }
};
