/**
 * What stands between a host on Docker and the machine's kernel: the kernel's own borders, or gVisor's
 * kernel, which the engine then has as the runtime `runsc`.
 *
 * A host's fence is rules in its network namespace (fence.ts), and gVisor's own network stack sends past
 * them. So it has to use the namespace's (`--network=host`, which means that one and not the machine's).
 * Kata's virtual machines are beyond such a fence altogether; they belong on Kubernetes, whose policies
 * hold them from outside.
 */
import type Docker from 'dockerode';
import { AppError } from '#domain/error.ts';
import type { Isolation } from '#domain/pool.ts';
import { engineRefusal } from '../../engine/engine.ts';

const gvisor = { name: 'runsc', stack: '--network=host' } as const;

/** What the engine says of its runtimes, by name. */
type Runtimes = Record<string, { runtimeArgs?: string[] }>;

/** The engine's runtime for an isolation; none: its usual one. */
export const runtimeOf = (isolation: Isolation): string | undefined =>
  isolation === 'gvisor' ? gvisor.name : undefined;

const refusalOf = (isolation: Isolation, runtimes: Runtimes): string | undefined => {
  if (isolation === 'container') return undefined;
  if (isolation !== 'gvisor') {
    return `hosts on Docker have the isolation "container" or "gvisor", not "${isolation}"`;
  }
  const found = runtimes[gvisor.name];
  if (found === undefined) {
    const names = Object.keys(runtimes).join(', ');
    return `the isolation "gvisor" takes the runtime "${gvisor.name}", and the Docker engine has only ${names}: install gVisor and name it in the engine's daemon.json`;
  }
  return found.runtimeArgs?.includes(gvisor.stack)
    ? undefined
    : `the engine's runtime "${gvisor.name}" has a network stack of its own, which no fence holds: give it the argument ${gvisor.stack} in daemon.json`;
};

/** Throws `unavailable` with what is to be done when the engine cannot give an isolation safely. */
export const requireIsolation = async (docker: Docker, isolation: Isolation): Promise<void> => {
  if (isolation === 'container') return;
  const info = await docker.info().catch((error: unknown) => {
    throw engineRefusal('asking for its runtimes', error);
  });
  const refusal = refusalOf(isolation, (info as { Runtimes?: Runtimes }).Runtimes ?? {});
  if (refusal !== undefined) throw new AppError('unavailable', refusal);
};
