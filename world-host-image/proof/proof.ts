/**
 * Proves that a session left nothing in a host, or reports what it left: processes, files, shared memory, queues and
 * sockets. (The control plane compares the rows, by their digest.) It first ends or removes what it can. A process
 * that outlived its worker is reported all the same, because it could have reached the host itself.
 *
 * The checks read /proc and folders, and run in this process: nothing is started for them. In namespaces that a
 * runtime shares, a session's objects cannot be distinguished, so these are not checked. The configuration lists the
 * namespaces that are not shared.
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
   * Cleans up, and returns what is not clean: at most 20 texts of at most 200 characters. Call it when no worker is
   * left in which anything of a session ran. `placed` are the files, by full path, that the host has on disk by now
   * besides its initial ones. `ended` are the ids of workers that are gone for good, which may have left processes of
   * their groups.
   */
  clean(placed: readonly TreeFile[], ended?: readonly number[]): Promise<string[]>;
};

export type ProofParts = {
  workDir: string;
  /** Folders of the host that no code of a world can reach, and that are not checked here. */
  apart?: readonly string[];
  /** Namespaces that the host has to itself. */
  namespaces: readonly Namespace[];
  userCode: Pick<UserCode, 'processes'>;
  log: Log;
};

const mostFindings = { count: 20, chars: 200 };

/** Cleans and cuts a text, because user code chooses the names of processes and files. */
const cut = (text: string): string =>
  text.replaceAll(/[^\x20-\x7e]/g, '?').slice(0, mostFindings.chars);

/** Starts to watch. Call it when the workers are up, and before any code of a world is loaded. */
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
      log.debug({ tookMs, found: found.length }, 'looked for what the session left');
      return found.slice(0, mostFindings.count).map(cut);
    },
  };
};
