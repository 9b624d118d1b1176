/** Opens the Kubernetes driver as it is configured. */

import type { Driver } from '../driver.ts';
import { connectCluster } from '../kubernetes/cluster.ts';
import type { KubernetesConfig } from '../kubernetes/kubernetes-config.ts';
import { createKubernetesDriver } from '../kubernetes/kubernetes-driver.ts';
import { ownNamespace } from '../kubernetes/namespace.ts';
import type { DriverOptions } from './runtime-config.ts';

/** Throws `unavailable` or `invalid` when no cluster is named anywhere. */
export const openKubernetes = (config: KubernetesConfig, options: DriverOptions): Driver => {
  const namespace = config.namespace ?? ownNamespace(options.installation);
  return createKubernetesDriver({
    ...config,
    ...options,
    namespace,
    cluster: connectCluster(config),
  });
};
