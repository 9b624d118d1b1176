/**
 * Shows that nothing of a session is left in a host, or what is: in processes, files, shared memory,
 * queues and sockets. (Rows are the control plane's to compare, by their digest.) What can be ended or
 * removed is, first; a process that had outlived its worker is told of all the same, as it was where it
 * could reach the host itself.
 *
 * The looks are at /proc and at folders, in this process: nothing is started for them. What a runtime
 * shares with others cannot be told apart and is not looked at; the configuration says what is shared.
 */
import { existsSync } from 'node:fs';
import type { TreeFile } from '#domain/world.ts';
import type { Log } from '#runtime/log.ts';
import type { UserCode } from '../usercode/runner.ts';
import { watchFiles } from './files.ts';
import { watchKernelObjects } from './kernel-objects.ts';
import { watchProcesses } from './processes.ts';

/** What a host may have to itself, as Linux parts it. */
export type Namespace = 'pid' | 'ipc' | 'mount' | 'net';

export type Proof = {
  /**
   * Cleans up, and answers what is not clean: at most 20 texts of at most 200 characters. To be called
   * when no worker is left in which anything of a session ran. `placed` are the files that the host has
   * on disk by now, besides those that it began with, by their full paths; `ended` are the numbers of workers that
   * are gone for good, which may have left processes of their groups.
   */
  clean(placed: readonly TreeFile[], ended?: readonly number[]): Promise<string[]>;
};

export type ProofParts = {
  workDir: string;
  /** Folders of the host's own that no code of a world can reach and that keep what is proved by others. */
  apart?: readonly string[];
  /** What the host has to itself. */
  namespaces: readonly Namespace[];
  userCode: Pick<UserCode, 'processes'>;
  log: Log;
};

const mostFindings = { count: 20, chars: 200 };

/** Names of processes and files are a stranger's choice. */
const cut = (text: string): string =>
  text.replaceAll(/[^\x20-\x7e]/g, '?').slice(0, mostFindings.chars);

/** Begins to watch. To be called when the workers are up and before any code of a world is loaded. */
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
