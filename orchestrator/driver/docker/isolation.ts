/**
 * Isolation of a host on Docker from the machine's kernel: a plain container, or gVisor's kernel, which the engine must
 * have as the runtime `runsc`.
 *
 * A host's firewall rules are in its network namespace (firewall.ts), and gVisor's own network stack would bypass them.
 * gVisor must therefore use the stack of the namespace (`--network=host`, which means the container's namespace and not
 * the machine's). Rules in a namespace cannot restrict Kata's virtual machines at all; those belong on Kubernetes,
 * whose network policies apply from outside.
 */
import type Docker from 'dockerode';
import { AppError } from '#domain/error.ts';
import type { Isolation } from '#domain/pool.ts';
import { engineRefusal } from '../../engine/engine.ts';

const gvisor = { name: 'runsc', stack: '--network=host' } as const;

/** Runtimes as the engine reports them, by name. */
type Runtimes = Record<string, { runtimeArgs?: string[] }>;

/** Returns the engine's runtime for an isolation; undefined for the engine's default. */
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
    : `the engine's runtime "${gvisor.name}" has a network stack of its own, which bypasses the network rules of hosts: give it the argument ${gvisor.stack} in daemon.json`;
};

/** Throws `unavailable`, with what the operator has to do, when the engine cannot provide an isolation safely. */
export const requireIsolation = async (docker: Docker, isolation: Isolation): Promise<void> => {
  if (isolation === 'container') return;
  const info = await docker.info().catch((error: unknown) => {
    throw engineRefusal('reading the runtimes of the engine', error);
  });
  const refusal = refusalOf(isolation, (info as { Runtimes?: Runtimes }).Runtimes ?? {});
  if (refusal !== undefined) throw new AppError('unavailable', refusal);
};
