/**
 * Chooses the user that PostgreSQL runs as. PostgreSQL refuses user id 0, so root needs another one:
 *
 * 1. a user namespace in which root appears as `nobody`. Outside of it the process is still root, so every folder
 * works and no file changes its owner;
 * 2. if namespaces are not permitted (some containers), the user `nobody` itself. It must then own the data directory
 * and be able to enter the path to it.
 *
 * If `setpriv` exists, the kernel stops the server when the process that started it dies.
 */
import { spawnSync } from 'node:child_process';
import { chownSync, lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { AppError } from '#domain/error.ts';

const nobody = 65534;

export type PostgresUser = {
  /** Words of the command that precede the binary. */
  prefix: string[];
  /** User and group ids of the spawned command; undefined if they are those of the caller. */
  ids: { uid: number; gid: number } | undefined;
};

const namespacePrefix = [
  'unshare',
  '--user',
  `--map-user=${nobody}`,
  `--map-group=${nobody}`,
  '--',
];
/**
 * Command that makes the kernel send SIGTERM to PostgreSQL when its parent process dies. With SIGTERM, PostgreSQL lets
 * its clients finish before it ends.
 */
const tetherPrefix = ['setpriv', '--pdeathsig', 'TERM', '--'];

const works = (prefix: string[]): boolean => {
  const [command = 'true', ...rest] = [...prefix, 'true'];
  return spawnSync(command, rest, { stdio: 'ignore' }).status === 0;
};

/** Chooses the user. It tries each way by running `true`, which takes some milliseconds. */
export const choosePostgresUser = (): PostgresUser => {
  const tether = works(tetherPrefix) ? tetherPrefix : [];
  if (process.getuid?.() !== 0) return { prefix: tether, ids: undefined };
  if (works(namespacePrefix)) return { prefix: [...namespacePrefix, ...tether], ids: undefined };
  return { prefix: tether, ids: { uid: nobody, gid: nobody } };
};

const chownTree = (path: string, { uid, gid }: { uid: number; gid: number }): void => {
  const stat = lstatSync(path);
  if (stat.uid !== uid) chownSync(path, uid, gid);
  if (!stat.isDirectory()) return;
  for (const name of readdirSync(path)) chownTree(join(path, name), { uid, gid });
};

/** Makes the user the owner of one file. */
export const giveFile = (user: PostgresUser, file: string): void => {
  if (user.ids !== undefined) chownSync(file, user.ids.uid, user.ids.gid);
};

/**
 * Makes the user the owner of a directory with its contents, and checks that the user can enter it. Throws
 * `unavailable` if not, because a folder above denies access.
 */
export const giveDirectory = (user: PostgresUser, directory: string): void => {
  if (user.ids === undefined) return;
  chownTree(directory, user.ids);
  const entered = spawnSync('/bin/sh', ['-c', 'cd -- "$0"', directory], {
    ...user.ids,
    cwd: '/',
    stdio: 'ignore',
  });
  if (entered.status === 0) return;
  throw new AppError(
    'unavailable',
    `PostgreSQL cannot run as root, user namespaces are not permitted here, and the user "nobody" cannot enter ${directory}: choose a data folder in a folder that other users may enter, or run svc as an ordinary user`,
  );
};
