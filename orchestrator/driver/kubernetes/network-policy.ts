/**
 * Builds the network policy of an installation's pods. Ingress: only to the API port, and only from permitted callers.
 * Egress: only to the control plane, and to the cluster's name server if the control plane is reached by a name. The
 * policy selects pods by a label that they are created with, so it applies before the first pod runs.
 */
import { isIP } from 'node:net';
import type {
  V1NetworkPolicy,
  V1NetworkPolicyEgressRule,
  V1NetworkPolicyPeer,
} from '@kubernetes/client-node';
import { AppError } from '#domain/error.ts';
import { containerApiPort as apiPort } from '#domain/host-address.ts';
import { labelNames } from '../labels.ts';
import { networkOf } from './peers.ts';
import { policyName, type ResourceScope, resourceMetadata } from './resources.ts';

export type NetworkPolicySettings = ResourceScope & {
  /** Address of the control plane as hosts reach it. */
  controlUrl: string;
  /** Network policy peers that select the control plane; needed when its address is a name. */
  controlPeers: readonly V1NetworkPolicyPeer[];
  /** Ports of those peers, if they differ from the port of its address. */
  controlPorts: readonly number[];
  /** Peers that may call hosts; if empty, the peers of the control plane. */
  callerPeers: readonly V1NetworkPolicyPeer[];
};

const nameServer: V1NetworkPolicyEgressRule = {
  to: [
    {
      namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'kube-system' } },
      podSelector: { matchLabels: { 'k8s-app': 'kube-dns' } },
    },
  ],
  ports: [
    { protocol: 'UDP', port: 53 },
    { protocol: 'TCP', port: 53 },
  ],
};

const bare = (hostname: string): string => hostname.replace(/^\[(.*)\]$/, '$1');

/** Returns the egress rules. Throws `invalid` for a name without configured peers. */
const wayOut = ({
  controlUrl,
  controlPeers,
  controlPorts,
}: NetworkPolicySettings): V1NetworkPolicyEgressRule[] => {
  const { hostname, port, protocol } = new URL(controlUrl);
  const address = bare(hostname);
  const isName = isIP(address) === 0;
  if (isName && controlPeers.length === 0) {
    throw new AppError(
      'invalid',
      `hosts reach the control plane as ${hostname}, which no network policy can name: ` +
        'set SVC_KUBE_CONTROL to its pods (namespace/label=value) or its network (10.0.0.0/16)',
    );
  }
  // Behind a service the port is the pod's own, which may differ from the port of the address.
  const usualPort = Number(port) || (protocol === 'https:' ? 443 : 80);
  const numbers = controlPorts.length > 0 ? controlPorts : [usualPort];
  const ports = numbers.map((number) => ({ protocol: 'TCP', port: number }));
  if (controlPeers.length > 0) {
    return [{ to: [...controlPeers], ports }, ...(isName ? [nameServer] : [])];
  }
  return [{ to: [networkOf(address)], ports }];
};

/** Builds the network policy of an installation. */
export const networkPolicyOf = (settings: NetworkPolicySettings): V1NetworkPolicy => {
  const egress = wayOut(settings);
  const callers =
    settings.callerPeers.length > 0 ? [...settings.callerPeers] : (egress[0]?.to ?? []);
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: resourceMetadata(settings, policyName),
    spec: {
      podSelector: { matchLabels: { [labelNames.installation]: settings.installation } },
      policyTypes: ['Ingress', 'Egress'],
      ingress: [{ _from: callers, ports: [{ protocol: 'TCP', port: apiPort }] }],
      egress,
    },
  };
};
