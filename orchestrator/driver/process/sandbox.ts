/**
 * A sandbox for hosts that are processes, made by bubblewrap where it is installed: nothing of the
 * machine's files but programs, this tree's code (both to read) and the host's own folder, and no sight
 * of any other process. It does not part hosts from the network, nor bound processors and processes;
 * that takes containers.
 *
 * A host lives on when the orchestrator ends, so bubblewrap's "die with parent" is tied to a shell that
 * does nothing but wait: whoever kills that process, the host's first, kills all of the host. SIGTERM
 * passes shell and bubblewrap by and reaches the host's program, which ends in its own time.
 */
import { execFile } from 'node:child_process';
import { existsSync, readlinkSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { AppError, describeError } from '#domain/error.ts';
import type { Python } from './python.ts';

const run = promisify(execFile);

/** What is asked for; `auto`: bubblewrap where it works. */
export const sandboxChoices = ['auto', 'bubblewrap', 'none'] as const;
export type SandboxChoice = (typeof sandboxChoices)[number];

/** What a host may see of this machine, all of it to read only. */
export type Visible = {
  /** The root of the tree that hosts run from. */
  root: string;
  /** What of it they see: files and folders, relative to it. */
  code: readonly string[];
  /** Undefined where this machine has none. */
  python: Python | undefined;
  /** The folders in which programs are looked for. */
  path: string;
};

/** A sandbox that is known to work, or `none` with what that means for whoever runs untrusted code. */
export type Sandbox =
  | { kind: 'bubblewrap'; arguments: readonly string[]; python: string | undefined; says: string }
  | { kind: 'none'; says: string };

/** The user that a host takes itself for. To the kernel it stays the orchestrator's. */
const userId = '10001';
const probeTimeoutMs = 15_000;
const mebibyte = 1024 * 1024;

const systemFolders = ['bin', 'sbin', 'lib', 'lib32', 'lib64'];
/** What programs read to find their libraries, names and certificates. */
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

/** The last that a failed command said, or why it could not be run, on one line. */
const reasonOf = (error: unknown): string => {
  const said = (error as { stderr?: string }).stderr?.trim().split('\n').at(-1) ?? '';
  return said === ''
    ? describeError(error)
        .trim()
        .replaceAll(/\s*\n\s*/g, ' ')
    : said;
};

/** `--ro-bind` of a path to itself, if it is there; a link is bound as what it leads to. */
const bind = (path: string): string[] =>
  existsSync(path) ? ['--ro-bind', realpathSync(path), path] : [];

/** A system folder as it is here: a link into /usr, or a folder of its own. */
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

/** Waits for the host; see the head of this file. */
const keeper = 'trap "" TERM INT HUP; ulimit -c 0; "$@"; exit $?';

/** The command that runs a command inside the sandbox, in the first of the folders, which are all that it can write to. */
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

/** Makes sure that bubblewrap works here, with Node inside, and Python where there is one. */
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
 * The sandbox for hosts of this tree. Throws `unavailable` with the reason when bubblewrap is asked for
 * and does not work here.
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
