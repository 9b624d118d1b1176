/**
 * Sockets that belong neither to the host nor to its workers, in a network namespace that the host has to
 * itself. The system counts all of them at no cost, so its tables, which take milliseconds to read where
 * memory is large, are looked at only the first time and when the count is not what it should be: a
 * connection that is closing is counted, too.
 */
import { readRows, readText, socketsOf } from './proc.ts';

export type SocketWatch = {
  /** The sockets of nobody that is known, given the live workers. */
  look(workers: readonly number[]): string[];
};

/** Where in a table's rows things stand. */
type Columns = { user: number | undefined; inode: number; shown: number };
const internet: Columns = { user: 7, inode: 9, shown: 1 };
const local: Columns = { user: undefined, inode: 6, shown: 7 };

const tables: [string, Columns][] = [
  ...['tcp', 'tcp6', 'udp', 'udp6', 'raw', 'raw6'].map((name): [string, Columns] => [
    name,
    internet,
  ]),
  ['unix', local],
];

/** The inode of a connection that no process has any more. */
const noInode = '0';
/** What a worker has: its two outputs and its channel. */
const socketsOfWorker = 4;

type Known = {
  inodes: Set<string>;
  /** Sockets of workers that let nobody look at their descriptors. */
  unseen: number;
};

const knownOf = (workers: readonly number[]): Known => {
  const sets = [socketsOf('self'), ...workers.map(socketsOf)];
  return {
    inodes: new Set(sets.flatMap((sockets) => [...(sockets ?? [])])),
    unseen: socketsOfWorker * sets.filter((sockets) => sockets === undefined).length,
  };
};

/** All sockets of the namespace; undefined where the system does not say. */
const countAll = (): number | undefined => {
  const [, used] = /^sockets: used (\d+)/.exec(readText('/proc/net/sockstat') ?? '') ?? [];
  return used === undefined ? undefined : Number(used);
};

/** Those that are not known; undefined where it cannot be told. */
const countOthers = ({ inodes, unseen }: Known): number | undefined => {
  const all = countAll();
  return all === undefined ? undefined : all - inodes.size - unseen;
};

/** The rows of a table that are of this user, still open, and not known. */
const othersIn = (
  name: string,
  { user, inode, shown }: Columns,
  { inodes, unseen }: Known,
): string[] | undefined => {
  const uid = String(process.getuid?.() ?? -1);
  const others = readRows(`/proc/net/${name}`)?.filter(
    (row) =>
      row[inode] !== noInode &&
      !inodes.has(row[inode] ?? '') &&
      (user === undefined || row[user] === uid),
  );
  const named = others?.filter((row) => row[shown] !== undefined);
  const nameless = others?.filter((row) => row[shown] === undefined).slice(unseen);
  return named
    ?.concat(nameless ?? [])
    .map((row) => `/proc/net/${name}: socket ${row[inode]} at ${row[shown] ?? 'no address'}`);
};

/**
 * To be called before any code of a world has run, with the workers that there are. A table in which
 * there are others' sockets by then, as of another container of the pod, tells nothing and is left out.
 */
export const watchSockets = (workers: readonly number[]): SocketWatch => {
  const first = knownOf(workers);
  // The least that was ever counted: one that was just closed may be counted for a moment, and would hide another.
  let usual = countOthers(first);
  let isSettled = false;
  const telling = tables.filter(([name, columns]) => othersIn(name, columns, first)?.length === 0);
  return {
    look(present) {
      const known = knownOf(present);
      const others = countOthers(known);
      if (isSettled && others !== undefined && others === usual) return [];
      const found = telling.flatMap(
        ([name, columns]) =>
          othersIn(name, columns, known) ?? [`/proc/net/${name}: it cannot be read any more`],
      );
      if (others !== undefined && others < (usual ?? Infinity)) usual = others;
      isSettled ||= found.length === 0;
      return found;
    },
  };
};
