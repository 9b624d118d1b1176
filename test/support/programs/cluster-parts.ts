/**
 * Parts of a cluster that run as processes of this machine, for tests that stop and kill them. `SVC_TEST_KUBE_RUN`
 * names a folder with one file for each part (`apiserver`, `etcd`, `kubelet`) that holds its process id. A killed part
 * is restarted with the same command line.
 */
import { spawn } from 'node:child_process';
import { openSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '#runtime/pause.ts';

export type Part = 'apiserver' | 'etcd' | 'kubelet';

export type ClusterParts = {
  /** Suspends the process of a part. */
  pause(part: Part): void;
  resume(part: Part): void;
  /** Kills a part; returns the function that restarts it. */
  kill(part: Part): Promise<() => void>;
};

const words = (path: string): string[] => readFileSync(path, 'utf8').split('\0').filter(Boolean);

const isGone = (pid: number): boolean => {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ');
  } catch {
    return true;
  }
};

const mostRestarts = 5;

/** Returns the parts of the cluster; undefined when the environment does not name their folder. */
export const findClusterParts = (): ClusterParts | undefined => {
  const folder = process.env.SVC_TEST_KUBE_RUN;
  if (folder === undefined) return undefined;
  const fileOf = (part: Part): string => join(folder, part);
  const pidOf = (part: Part): number => Number(readFileSync(fileOf(part), 'utf8'));
  return {
    pause: (part) => void process.kill(pidOf(part), 'SIGSTOP'),
    resume: (part) => void process.kill(pidOf(part), 'SIGCONT'),
    async kill(part) {
      const pid = pidOf(part);
      const [command = '', ...args] = words(`/proc/${pid}/cmdline`);
      const env = Object.fromEntries(
        words(`/proc/${pid}/environ`).map((word) => {
          const at = word.indexOf('=');
          return [word.slice(0, at), word.slice(at + 1)];
        }),
      );
      const cwd = readlinkSync(`/proc/${pid}/cwd`);
      const log = openSync(readlinkSync(`/proc/${pid}/fd/2`), 'a');
      process.kill(pid, 'SIGKILL');
      await until(() => isGone(pid), { timeoutMs: 30_000, what: `${part} gone` });
      // The API server exits by itself if etcd is slow to start; then it is started again.
      const start = (again: number): void => {
        const stdio = ['ignore', log, log] as const;
        const child = spawn(command, args, { cwd, env, stdio: [...stdio], detached: true });
        child.once('exit', (_, signal) => {
          if (signal === null && again > 0) start(again - 1);
        });
        child.unref();
        writeFileSync(fileOf(part), `${child.pid}\n`);
      };
      return () => start(mostRestarts);
    },
  };
};
