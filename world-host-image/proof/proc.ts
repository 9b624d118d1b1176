/** Reading /proc: what there is of it, as it is at one moment. A process may be gone between two looks. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** What says that there is nothing to read: it is gone, it never was, or it is closed to this user. */
const absent = new Set(['ENOENT', 'ESRCH', 'EACCES', 'EPERM', 'ENOTDIR', 'EINVAL']);

const orNothing = <Value>(read: () => Value): Value | undefined => {
  try {
    return read();
  } catch (error) {
    if (absent.has((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw error;
  }
};

/** The text of a file of the system; undefined where there is none to read. */
export const readText = (path: string): string | undefined =>
  orNothing(() => readFileSync(path, 'utf8'));

/** The lines of a table below its head; undefined where there is none. */
export const readRows = (path: string): string[][] | undefined =>
  readText(path)
    ?.split('\n')
    .slice(1)
    .filter((line) => line !== '')
    .map((line) => line.trim().split(/\s+/));

export type ProcessFacts = {
  pid: number;
  /** The process that it is, also when its number is another's later. */
  identity: string;
  /** The name of its program, as it or its author likes. */
  name: string;
  group: number;
  session: number;
};

const numberedFolders = (): number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);

/** Whether a process has ended and was only not waited for: nothing in it can act any more. */
const isOver = (state: string | undefined): boolean => state === 'Z' || state === 'X';

const factsOf = (pid: number): ProcessFacts | undefined => {
  const stat = readText(`/proc/${pid}/stat`);
  if (stat === undefined) return undefined;
  // The name stands in parentheses and may hold any character.
  const end = stat.lastIndexOf(')');
  const name = stat.slice(stat.indexOf('(') + 1, end);
  const fields = stat.slice(end + 2).split(' ');
  const [state, , group, session] = fields;
  if (isOver(state)) return undefined;
  const identity = `${pid} since ${fields[19]}`;
  return { pid, identity, name, group: Number(group), session: Number(session) };
};

/**
 * Whether a process is this user's. Not told from the owner of its folder: a process can have that
 * changed by closing itself to others.
 */
const isOwn = (pid: number, uid: string): boolean => {
  const [, ids = ''] = /^Uid:\s+(.*)$/m.exec(readText(`/proc/${pid}/status`) ?? '') ?? [];
  return ids.split(/\s+/).includes(uid);
};

/** The processes of this user that run. Others cannot be user code's: nothing lets it change users. */
export const listOwnProcesses = (): ProcessFacts[] => {
  const uid = String(process.getuid?.() ?? -1);
  return numberedFolders().flatMap((pid) => (isOwn(pid, uid) ? (factsOf(pid) ?? []) : []));
};

/** The environment that a process was started with; none where it is closed to this one. */
export const environmentOf = (pid: number): string[] =>
  (readText(`/proc/${pid}/environ`) ?? '').split('\0');

/** The sockets among the descriptors of a process, by their numbers; undefined where they are closed. */
export const socketsOf = (pid: number | 'self'): Set<string> | undefined => {
  const names = orNothing(() => readdirSync(`/proc/${pid}/fd`));
  if (names === undefined) return undefined;
  const links = names.map((name) => orNothing(() => readlinkSync(`/proc/${pid}/fd/${name}`)) ?? '');
  return new Set(links.flatMap((link) => /^socket:\[(\d+)\]$/.exec(link)?.[1] ?? []));
};
