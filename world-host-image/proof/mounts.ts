/** Lists the mounts of this process that it can write to, from /proc/self/mountinfo. */
import { accessSync, constants, existsSync, realpathSync, statSync } from 'node:fs';
import { readText } from './proc.ts';

export type WritablePaths = { folders: string[]; files: string[] };

/** File systems of the kernel itself, which store nothing. */
const pseudo = new Set(['proc', 'sysfs', 'cgroup', 'cgroup2', 'devpts', 'securityfs']);

/** Folders that every user may usually write to, unless the root file system is read-only. */
const usual = ['/tmp', '/var/tmp', '/dev/shm', '/dev/mqueue', '/run/lock'];

/** Decodes a path of mountinfo, in which characters such as blanks are written as three octal digits. */
const unescapePath = (text: string): string =>
  text.replaceAll(/\\([0-7]{3})/g, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 8)),
  );

const isWritable = (path: string): boolean => {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false; // no permission, or covered by another mount
  }
};

const mountPaths = (): string[] =>
  (readText('/proc/self/mountinfo') ?? '').split('\n').flatMap((line) => {
    const [before = '', after = ''] = line.split(' - ');
    const [, , , , path = ''] = before.split(' ');
    const [type = ''] = after.split(' ');
    return path === '' || path === '/' || pseudo.has(type) ? [] : [unescapePath(path)];
  });

/** Returns the writable folders and files; the root folder is left out even if it is writable. */
export const writablePaths = (): WritablePaths => {
  const paths = [...mountPaths(), ...usual].filter((path) => existsSync(path) && isWritable(path));
  const writable = [...new Set(paths.map((path) => realpathSync(path)))].sort();
  return {
    folders: writable.filter((path) => statSync(path).isDirectory()),
    files: writable.filter((path) => statSync(path).isFile()),
  };
};
