/** Reads the settings of the Kubernetes runtime. Settings that differ between pools are in the pools file. */
import type { V1NetworkPolicyPeer } from '@kubernetes/client-node';
import type { HostKind } from '#domain/host.ts';
import type { BrowserTier } from '#domain/session.ts';
import type { EnvReader } from '#runtime/env.ts';
import { readPeers } from './peers.ts';

const pullPolicies = ['Always', 'IfNotPresent', 'Never'] as const;
export type PullPolicy = (typeof pullPolicies)[number];

export type KubernetesConfig = {
  runtime: 'kubernetes';
  /** `KUBECONFIG`; if absent, the cluster that this process runs in, else `~/.kube/config`. */
  kubeconfig: string | undefined;
  inCluster: boolean;
  home: string | undefined;
  /** Namespace of the hosts; if absent, the installation has a namespace of its own. */
  namespace: string | undefined;
  /** Images by kind of host, named as nodes pull them. */
  images: Readonly<Record<HostKind, string>>;
  /** Seccomp profile for browsers: its path below the kubelet's profile folder. */
  browserCalls: string | undefined;
  /** Priority classes, by tier, for pods of pools that name none; pools of both tiers take that of standard. */
  priorityClasses: Readonly<Record<BrowserTier, string | undefined>>;
  /** Pull policy of nodes for these images and for the images that pools name. */
  pullPolicy: PullPolicy;
  /** True if images are pulled to nodes before a host is launched there. */
  prePull: boolean;
  /** Time for which a premium session may stay on a node that is being drained, in milliseconds. */
  drainWaitMs: number;
  /** CPU request of a host in thousandths of a processor; pools may set another. */
  cpuRequestMilli: number;
  /** Network policy peers that select the control plane; needed when hosts reach it by a name. */
  controlPeers: readonly V1NetworkPolicyPeer[];
  /** Ports of the control plane's host API, if they differ from the port of its address as hosts see it. */
  controlPorts: readonly number[];
  /** Network policy peers that call hosts (gateway and clients); if empty, the peers of the control plane. */
  callerPeers: readonly V1NetworkPolicyPeer[];
  /** Address by which pods reach the machine of the control plane; if absent, the driver finds it. */
  hostAddress: string | undefined;
};

const namespacePattern = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

const readPeersOf = (read: EnvReader, name: string): V1NetworkPolicyPeer[] => {
  const { peers, wrong } = readPeers(read.text(name, ' '));
  for (const word of wrong) {
    read.refuse(
      `${name} has "${word}", neither a network (10.0.0.0/16) nor pods (namespace/label=value)`,
    );
  }
  return peers;
};

const readNamespace = (read: EnvReader): string | undefined => {
  const namespace = read.optionalText('SVC_KUBE_NAMESPACE');
  if (namespace !== undefined && !namespacePattern.test(namespace)) {
    read.refuse(`SVC_KUBE_NAMESPACE is "${namespace}", which no namespace can be called`);
  }
  return namespace;
};

const readPorts = (read: EnvReader, name: string): number[] => {
  const words = read.text(name, ' ').split(/\s+/).filter(Boolean);
  for (const word of words) {
    if (/^[1-9]\d{0,4}$/.test(word) && Number(word) <= 65_535) continue;
    read.refuse(`${name} has "${word}", which is no port`);
  }
  return words.map(Number);
};

export const readKubernetes = (read: EnvReader): KubernetesConfig => ({
  runtime: 'kubernetes',
  kubeconfig: read.optionalText('KUBECONFIG'),
  inCluster: read.optionalText('KUBERNETES_SERVICE_HOST') !== undefined,
  home: read.optionalText('HOME'),
  namespace: readNamespace(read),
  images: { world: read.text('SVC_IMAGE'), browser: read.text('SVC_BROWSER_IMAGE', 'svc-browser') },
  browserCalls: read.optionalText('SVC_KUBE_BROWSER_SECCOMP'),
  priorityClasses: {
    standard: read.optionalText('SVC_KUBE_PRIORITY_STANDARD'),
    premium: read.optionalText('SVC_KUBE_PRIORITY_PREMIUM'),
  },
  pullPolicy: read.choice('SVC_KUBE_PULL_POLICY', pullPolicies, 'IfNotPresent'),
  prePull: read.choice('SVC_KUBE_PRE_PULL', ['yes', 'no'], 'no') === 'yes',
  drainWaitMs:
    60_000 * read.integer('SVC_KUBE_DRAIN_WAIT_MINUTES', { min: 0, max: 10_080, fallback: 60 }),
  cpuRequestMilli: read.integer('SVC_KUBE_CPU_REQUEST_MILLI', {
    min: 1,
    max: 1_024_000,
    fallback: 100,
  }),
  controlPeers: readPeersOf(read, 'SVC_KUBE_CONTROL'),
  controlPorts: readPorts(read, 'SVC_KUBE_CONTROL_PORTS'),
  callerPeers: readPeersOf(read, 'SVC_KUBE_CALLERS'),
  hostAddress: read.optionalText('SVC_KUBE_HOST_ADDRESS'),
});
