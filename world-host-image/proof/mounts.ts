/** Which of this process's mounts it can write to, from /proc/self/mountinfo. */
import { accessSync, constants, existsSync, realpathSync, statSync } from 'node:fs';
import { readText } from './proc.ts';

export type WritablePaths = { folders: string[]; files: string[] };

/** File systems of the kernel's own, which keep nothing for anybody. */
const pseudo = new Set(['proc', 'sysfs', 'cgroup', 'cgroup2', 'devpts', 'securityfs']);

/** Folders in which anybody may write, where the root of the file system is not closed to writing. */
const usual = ['/tmp', '/var/tmp', '/dev/shm', '/dev/mqueue', '/run/lock'];

/** A path as the kernel writes it there: blanks and the like as three digits. */
const unescapePath = (text: string): string =>
  text.replaceAll(/\\([0-7]{3})/g, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 8)),
  );

const isWritable = (path: string): boolean => {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false; // closed to us, or covered by another mount
  }
};

const mountPaths = (): string[] =>
  (readText('/proc/self/mountinfo') ?? '').split('\n').flatMap((line) => {
    const [before = '', after = ''] = line.split(' - ');
    const [, , , , path = ''] = before.split(' ');
    const [type = ''] = after.split(' ');
    return path === '' || path === '/' || pseudo.has(type) ? [] : [unescapePath(path)];
  });

/** What can be written to, apart from a root that can. */
export const writablePaths = (): WritablePaths => {
  const paths = [...mountPaths(), ...usual].filter((path) => existsSync(path) && isWritable(path));
  const writable = [...new Set(paths.map((path) => realpathSync(path)))].sort();
  return {
    folders: writable.filter((path) => statSync(path).isDirectory()),
    files: writable.filter((path) => statSync(path).isFile()),
  };
};
