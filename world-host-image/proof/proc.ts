/** Reads /proc. Each read is a snapshot: a process may end between two reads. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** Error codes that mean that a file cannot be read: it is gone, it never existed, or this user may not read it. */
const absent = new Set(['ENOENT', 'ESRCH', 'EACCES', 'EPERM', 'ENOTDIR', 'EINVAL']);

const orNothing = <Value>(read: () => Value): Value | undefined => {
  try {
    return read();
  } catch (error) {
    if (absent.has((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw error;
  }
};

/** Reads a system file; returns undefined if the file cannot be read. */
export const readText = (path: string): string | undefined =>
  orNothing(() => readFileSync(path, 'utf8'));

/** Reads the rows of a table below its heading; returns undefined if the table cannot be read. */
export const readRows = (path: string): string[][] | undefined =>
  readText(path)
    ?.split('\n')
    .slice(1)
    .filter((line) => line !== '')
    .map((line) => line.trim().split(/\s+/));

export type ProcessFacts = {
  pid: number;
  /** Identity of the process, which is unique even if the process id is reused. */
  identity: string;
  /** Name of the process's program, which the program itself can change. */
  name: string;
  group: number;
  session: number;
};

const numberedFolders = (): number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);

/**
 * Returns true if a process has ended and is only waiting for its parent to collect it; such a process cannot act any
 * more.
 */
const isOver = (state: string | undefined): boolean => state === 'Z' || state === 'X';

const factsOf = (pid: number): ProcessFacts | undefined => {
  const stat = readText(`/proc/${pid}/stat`);
  if (stat === undefined) return undefined;
  // The name is in parentheses and may contain any character.
  const end = stat.lastIndexOf(')');
  const name = stat.slice(stat.indexOf('(') + 1, end);
  const fields = stat.slice(end + 2).split(' ');
  const [state, , group, session] = fields;
  if (isOver(state)) return undefined;
  const identity = `${pid} since ${fields[19]}`;
  return { pid, identity, name, group: Number(group), session: Number(session) };
};

/**
 * Returns true if a process belongs to this user. The owner of the process's /proc folder is not used, because a
 * process can change that owner by making itself non-dumpable.
 */
const isOwn = (pid: number, uid: string): boolean => {
  const [, ids = ''] = /^Uid:\s+(.*)$/m.exec(readText(`/proc/${pid}/status`) ?? '') ?? [];
  return ids.split(/\s+/).includes(uid);
};

/**
 * Lists this user's running processes. User code cannot change its user, so processes of other users cannot be user
 * code.
 */
export const listOwnProcesses = (): ProcessFacts[] => {
  const uid = String(process.getuid?.() ?? -1);
  return numberedFolders().flatMap((pid) => (isOwn(pid, uid) ? (factsOf(pid) ?? []) : []));
};

/** Returns the environment that a process was started with; empty if this process may not read it. */
export const environmentOf = (pid: number): string[] =>
  (readText(`/proc/${pid}/environ`) ?? '').split('\0');

/** Returns the inode numbers of a process's sockets; undefined if its descriptors may not be read. */
export const socketsOf = (pid: number | 'self'): Set<string> | undefined => {
  const names = orNothing(() => readdirSync(`/proc/${pid}/fd`));
  if (names === undefined) return undefined;
  const links = names.map((name) => orNothing(() => readlinkSync(`/proc/${pid}/fd/${name}`)) ?? '');
  return new Set(links.flatMap((link) => /^socket:\[(\d+)\]$/.exec(link)?.[1] ?? []));
};
