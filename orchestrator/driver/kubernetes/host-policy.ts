/** Applies the network policy of an installation's hosts, which must exist before their pods. */
import type { V1OwnerReference } from '@kubernetes/client-node';
import type { HostSettings } from '../host-environment.ts';
import type { Cluster } from './cluster.ts';
import { podOwner } from './namespace.ts';
import { type NetworkPolicySettings, networkPolicyOf } from './network-policy.ts';
import { apply } from './resources.ts';

/**
 * Age of the last apply, in milliseconds, after which the network policy is applied again, before a launch or by the
 * periodic reconciliation.
 */
const applyAgainMs = 25_000;

export type HostPolicyOptions = Omit<NetworkPolicySettings, 'controlUrl'> & {
  cluster: Cluster;
  host: HostSettings;
};

export class HostPolicy {
  readonly #options: HostPolicyOptions;
  #appliedAt = Number.NEGATIVE_INFINITY;
  #owner: V1OwnerReference | undefined;

  constructor(options: HostPolicyOptions) {
    this.#options = options;
  }

  /** Applies the network policy unless it was applied recently; returns the object that owns the pods. */
  async ensure(): Promise<V1OwnerReference> {
    const now = performance.now();
    if (this.#owner !== undefined && now - this.#appliedAt < applyAgainMs) return this.#owner;
    const { cluster, host } = this.#options;
    await apply(cluster, networkPolicyOf({ ...this.#options, controlUrl: host.controlUrl }));
    this.#owner = await podOwner(cluster, this.#options);
    this.#appliedAt = now;
    return this.#owner;
  }
}
