/**
 * Proves that a session left nothing behind in a host, or reports what it left: processes, files, shared memory, queues
 * and sockets. (The control plane compares the rows, by their digest.) The proof first ends or removes everything that
 * it can. A process that outlived its worker is still reported, because it could have accessed the host itself.
 *
 * The checks read /proc and folders, and run in this process, so they start no other process. In a namespace that the
 * host shares with other programs, a session's objects cannot be distinguished from theirs, so such a namespace is not
 * checked. The configuration lists the namespaces that are not shared.
 */
import { existsSync } from 'node:fs';
import type { TreeFile } from '#domain/world.ts';
import type { Log } from '#runtime/log.ts';
import type { UserCode } from '../usercode/runner.ts';
import { watchFiles } from './files.ts';
import { watchKernelObjects } from './kernel-objects.ts';
import { watchProcesses } from './processes.ts';

/** Linux namespace that a host may have to itself. */
export type Namespace = 'pid' | 'ipc' | 'mount' | 'net';

export type Proof = {
  /**
   * Cleans up, and returns what could not be cleaned or must be reported: at most 20 texts of at most 200 characters.
   * Call it when no worker is left in which code of the session ran. `placed` are the files, by full path, that the
   * host has written to disk in addition to its initial files. `ended` are the ids of workers that have ended for good.
   * Processes of their groups may still exist.
   */
  clean(placed: readonly TreeFile[], ended?: readonly number[]): Promise<string[]>;
};

export type ProofParts = {
  workDir: string;
  /** Folders of the host that code of worlds cannot access, so they are not checked. */
  apart?: readonly string[];
  /** Namespaces that the host has to itself. */
  namespaces: readonly Namespace[];
  userCode: Pick<UserCode, 'processes'>;
  log: Log;
};

const mostFindings = { count: 20, chars: 200 };

/** Cleans and shortens a text, because user code chooses the names of processes and files. */
const cut = (text: string): string =>
  text.replaceAll(/[^\x20-\x7e]/g, '?').slice(0, mostFindings.chars);

/** Starts the watch. Call it when the workers run, and before any code of a world is loaded. */
export const startProof = ({ workDir, apart, namespaces, userCode, log }: ProofParts): Proof => {
  const own = (name: Namespace): boolean => namespaces.includes(name);
  const workers = () => userCode.processes();
  const files = watchFiles({ areOwnMounts: own('mount'), workDir, apart });
  const hasProc = existsSync('/proc/self/stat');
  const processes = hasProc
    ? watchProcesses({ isOwnTable: own('pid'), workDir, workers })
    : undefined;
  const kernelObjects = watchKernelObjects(
    { isOwnIpc: own('ipc'), isOwnNetwork: own('net') },
    workers().live,
  );
  return {
    async clean(placed, workersEnded = []) {
      const startedAt = performance.now();
      const ended = (await processes?.clean(workersEnded)) ?? [];
      await files.empty(placed);
      const left = [...files.look(placed), ...(await kernelObjects.look(workers().live))];
      const found = [...ended, ...left];
      const tookMs = performance.now() - startedAt;
      log.debug({ tookMs, found: found.length }, 'searched for leftovers of the session');
      return found.slice(0, mostFindings.count).map(cut);
    },
  };
};
