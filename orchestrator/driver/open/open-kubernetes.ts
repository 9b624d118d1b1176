/** Opens the Kubernetes driver from its configuration. */

import type { Driver } from '../driver.ts';
import { connectCluster } from '../kubernetes/cluster.ts';
import type { KubernetesConfig } from '../kubernetes/kubernetes-config.ts';
import { KubernetesDriver } from '../kubernetes/kubernetes-driver.ts';
import { ownNamespace } from '../kubernetes/namespace.ts';
import type { DriverOptions } from './runtime-config.ts';

/** Opens the driver. Throws `unavailable` or `invalid` when no cluster is configured anywhere. */
export const openKubernetes = (config: KubernetesConfig, options: DriverOptions): Driver => {
  const namespace = config.namespace ?? ownNamespace(options.installation);
  return new KubernetesDriver({
    ...config,
    ...options,
    namespace,
    cluster: connectCluster(config),
  });
};
