/**
 * Finds sockets that belong neither to the host nor to its workers, in a network namespace that the host has to itself.
 * The system counts all sockets at no cost, but reading its tables takes milliseconds on machines with much memory. The
 * tables are therefore read only the first time, and when the count differs from the expected count. The count may
 * differ without a foreign socket, because connections that are closing are counted, too.
 */
import { readRows, readText, socketsOf } from './proc.ts';

export type SocketWatch = {
  /** Returns the sockets that belong neither to the host nor to the given workers. */
  look(workers: readonly number[]): string[];
};

/** Indexes of the columns in a table's rows; undefined if the table does not have the column. */
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

/** Inode number of a connection that no process has open any more. */
const noInode = '0';
/** Number of a worker's sockets: its two outputs and its channel. */
const socketsOfWorker = 4;

type Known = {
  inodes: Set<string>;
  /** Number of sockets that are assumed for workers whose descriptors cannot be read. */
  unseen: number;
};

const knownOf = (workers: readonly number[]): Known => {
  const sets = [socketsOf('self'), ...workers.map(socketsOf)];
  return {
    inodes: new Set(sets.flatMap((sockets) => [...(sockets ?? [])])),
    unseen: socketsOfWorker * sets.filter((sockets) => sockets === undefined).length,
  };
};

/** Counts all sockets of the namespace; returns undefined if the system does not report it. */
const countAll = (): number | undefined => {
  const [, used] = /^sockets: used (\d+)/.exec(readText('/proc/net/sockstat') ?? '') ?? [];
  return used === undefined ? undefined : Number(used);
};

/** Counts the sockets that are not known; returns undefined if the system does not report the number of sockets. */
const countOthers = ({ inodes, unseen }: Known): number | undefined => {
  const all = countAll();
  return all === undefined ? undefined : all - inodes.size - unseen;
};

/** Returns the rows of a table whose sockets belong to this user, are still open, and are not known. */
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
 * Starts the watch. Call it before any code of a world has run, with the current workers. If a table already has
 * foreign sockets at that time, for example those of another container of the pod, it cannot prove anything and is
 * ignored.
 */
export const watchSockets = (workers: readonly number[]): SocketWatch => {
  const first = knownOf(workers);
  // Lowest count so far. A socket that was just closed may be counted for a moment, and would hide another one.
  let usual = countOthers(first);
  let isSettled = false;
  const usable = tables.filter(([name, columns]) => othersIn(name, columns, first)?.length === 0);
  return {
    look(present) {
      const known = knownOf(present);
      const others = countOthers(known);
      if (isSettled && others !== undefined && others === usual) return [];
      const found = usable.flatMap(
        ([name, columns]) =>
          othersIn(name, columns, known) ?? [`/proc/net/${name}: it cannot be read any more`],
      );
      if (others !== undefined && others < (usual ?? Infinity)) usual = others;
      isSettled ||= found.length === 0;
      return found;
    },
  };
};
