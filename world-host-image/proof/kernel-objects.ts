/**
 * Finds kernel objects that can outlive their processes: shared memory, semaphores and message queues of System V, and
 * sockets. (POSIX shared memory, semaphores and queues are files, see `files.ts`.) Each kind is checked only if the
 * host has the namespace to itself.
 */
import { pause } from '#runtime/pause.ts';
import { readRows } from './proc.ts';
import { watchSockets } from './sockets.ts';

export type KernelWatch = {
  /** Returns the objects that belong neither to the host nor to the given workers. */
  look(workers: readonly number[]): Promise<string[]>;
};

export type KernelWatchParts = { isOwnIpc: boolean; isOwnNetwork: boolean };

const ipcTables = ['shm', 'sem', 'msg'].map((name) => `/proc/sysvipc/${name}`);

const entriesOf = (table: string): string[] | undefined =>
  readRows(table)?.map(([key, id]) => `${table}: key ${key}, id ${id}`);

const tries = 5;
const betweenMs = 5;

/**
 * Starts the watch. Call it before any code of a world has run, with the current workers. A table that cannot be read,
 * or that already has entries at that time, is ignored.
 */
export const watchKernelObjects = (
  { isOwnIpc, isOwnNetwork }: KernelWatchParts,
  workers: readonly number[],
): KernelWatch => {
  const ipc = isOwnIpc ? ipcTables.filter((table) => entriesOf(table)?.length === 0) : [];
  const sockets = isOwnNetwork ? watchSockets(workers) : undefined;
  const lookOnce = (present: readonly number[]): string[] => [
    ...ipc.flatMap((table) => entriesOf(table) ?? [`${table}: it cannot be read any more`]),
    ...(sockets?.look(present) ?? []),
  ];
  return {
    async look(present) {
      // A thread of the host may open or close a socket during the check.
      for (let attempt = 1; ; attempt += 1) {
        const found = lookOnce(present);
        if (found.length === 0 || attempt === tries) return found;
        await pause(betweenMs);
      }
    },
  };
};
