/**
 * A container runtime in memory, for tests of the orchestrator alone. Containers are entries of a map; a test decides
 * the result of launches and kills containers. A second driver over the same map represents a restarted orchestrator,
 * which finds the same containers.
 */
import { AppError } from '#domain/error.ts';
import type { Container, Driver } from '../../../orchestrator/driver/driver.ts';

export type Machine = {
  containers: Map<string, Container>;
  /** Called by a launch once its container runs; throws to make it fail. */
  onLaunch: (hostId: string) => Promise<void> | void;
  /** Called by a destroy before the container is gone; throws to keep it. */
  onDestroy: () => void;
  /** Number of launches that began, and the most that were in progress at once. */
  launches: number;
  mostAtOnce: number;
  /** Changes the address of a container; null if it has none. */
  move(hostId: string, address: string | null): void;
  /** Ends a container as a crash would. */
  kill(hostId: string): void;
};

/** Creates a machine without containers. */
export const createMachine = (): Machine & { watchers: Set<() => void> } => {
  const watchers = new Set<() => void>();
  const machine = {
    containers: new Map<string, Container>(),
    onLaunch: () => undefined,
    onDestroy: () => undefined,
    launches: 0,
    mostAtOnce: 0,
    watchers,
    move(hostId: string, address: string | null) {
      machine.containers.set(hostId, { hostId, phase: 'running', digest: 'memory', address });
      for (const notify of watchers) notify();
    },
    kill(hostId: string) {
      const exit = { reason: 'exited', detail: 'exit status 3' } as const;
      machine.containers.set(hostId, { hostId, phase: 'exited', digest: 'memory', exit });
      for (const notify of watchers) notify();
    },
  };
  return machine;
};

/** Creates a driver over a machine. */
export const createMemoryDriver = (machine: ReturnType<typeof createMachine>): Driver => {
  let atOnce = 0;
  return {
    runtime: 'process',
    addressing: 'loopback',
    changesAtOnce: 8,
    startingMs: 3_000,
    startsAtOnce: () => Number.POSITIVE_INFINITY,
    digestOf: () => 'memory',
    prepare: async () => ({ listen: null, host: '127.0.0.1', image: null }),
    list: async () => [...machine.containers.values()],
    async launch({ hostId }) {
      machine.launches += 1;
      atOnce += 1;
      machine.mostAtOnce = Math.max(machine.mostAtOnce, atOnce);
      try {
        await machine.onLaunch(hostId);
        const address = 'http://127.0.0.1:1';
        machine.containers.set(hostId, { hostId, phase: 'running', digest: 'memory', address });
        return { runtimeId: hostId, address };
      } finally {
        atOnce -= 1;
      }
    },
    async adopt(hostId) {
      if (!machine.containers.has(hostId)) throw new AppError('not_found', `no ${hostId}`);
      return { runtimeId: hostId, address: 'http://127.0.0.1:1' };
    },
    async destroy(hostId) {
      machine.onDestroy();
      machine.containers.delete(hostId);
    },
    logs: async (hostId) => `last line of ${hostId}`,
    watch(onChange) {
      machine.watchers.add(onChange);
      return {
        loops: [],
        async stop() {
          machine.watchers.delete(onChange);
        },
      };
    },
    dismantle: async () => undefined,
  };
};
