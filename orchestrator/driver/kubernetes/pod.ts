/**
 * Builds the pod of a host: one unprivileged user, a read-only root, no capability, no token of the cluster, and
 * limits on memory, processors and scratch space. It meets the Pod Security level "restricted". The operator's
 * settings for a pool's pods are added where they cannot weaken that.
 */
import type {
  V1EnvVar,
  V1OwnerReference,
  V1Pod,
  V1PodSpec,
  V1Secret,
  V1Volume,
  V1VolumeMount,
} from '@kubernetes/client-node';
import type { HostKind } from '#domain/host.ts';
import { containerApiPort as apiPort } from '#domain/host-address.ts';
import type { KubernetesTable } from '#pools/kubernetes-table.ts';
import { type HostShape, type HostSize, kindOf } from '#pools/pool-config.ts';
import {
  type ContainerSettings,
  containerEnvironment,
  containerLabels,
  hostUserId,
  imageOf,
  scratchMb,
  sharedFolder,
  sharedSnapshotsOf,
} from '../container-host.ts';
import { digestOf } from '../digest.ts';
import type { LaunchSpec } from '../driver.ts';
import { containerName, labelNames } from '../labels.ts';
import { hostContainer } from './describe-pod.ts';
import type { KubernetesConfig, PullPolicy } from './kubernetes-config.ts';
import { managedBy, type ResourceScope } from './resources.ts';

/** Key of the token in a host's secret. */
const tokenKey = 'token';
const tokenFolder = '/run/svc';
const addressVariable = 'SVC_POD_ADDRESS';
/** Grace period of an evicted host, in seconds: as long as its current work may take. */
const graceSeconds = 30;

/**
 * Scheduling gate that holds a pod back from the nodes until its secret exists; an interrupted launch leaves it in
 * place.
 */
const tokenGate = 'svc/token';

/** Label that is set while a host serves a premium session; the disruption budget selects by it. */
export const protectedLabel = 'svc.protected';
/** Label with the tier of a pool, if it has one. */
const tierLabel = 'svc.tier';
/** Annotations that node autoscalers read: the first is the Cluster Autoscaler's, the second Karpenter's. */
export const safeToEvict = 'cluster-autoscaler.kubernetes.io/safe-to-evict';
export const doNotDisrupt = 'karpenter.sh/do-not-disrupt';

/** Settings that all pods of an installation share. */
export type PodSettings = ResourceScope &
  ContainerSettings & {
    /** Seccomp profile of browsers, as nodes have it; the runtime's default if absent. */
    browserCalls: string | undefined;
    /** Priority classes, by tier, for pods of pools that name none. */
    priorityClasses: KubernetesConfig['priorityClasses'];
    /** Policy by which nodes pull images of hosts. */
    pullPolicy: PullPolicy;
    /** CPU request of a host whose pool sets none, in thousandths of a processor. */
    cpuRequestMilli: number;
  };

const templateOf = ({ kubernetes }: HostShape): KubernetesTable => kubernetes ?? {};

/** Returns where and how a pool's pods run, as its operator configured them; the cluster validates the details. */
export const placementOf = (shape: HostShape): Partial<V1PodSpec> => {
  const { labels, annotations, cpuRequest, terminationGracePeriodSeconds, ...placement } =
    templateOf(shape);
  const { isolation } = shape;
  const usual = isolation === 'gvisor' || isolation === 'kata' ? isolation : undefined;
  const spec: Readonly<Record<string, unknown>> = {
    ...placement,
    runtimeClassName: placement.runtimeClassName ?? usual,
  };
  return spec;
};

/** Security context of a host's pod, and of any other pod that the orchestrator runs on nodes. */
export const restricted: Pick<V1PodSpec, 'securityContext'> = {
  securityContext: {
    runAsNonRoot: true,
    runAsUser: hostUserId,
    runAsGroup: hostUserId,
    fsGroup: hostUserId,
    seccompProfile: { type: 'RuntimeDefault' },
  },
};

export const restrictedContainer = {
  allowPrivilegeEscalation: false,
  privileged: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ['ALL'] },
};

/**
 * Returns the security context for a pod of this shape. With a seccomp profile of its own, a browser gets user
 * namespaces and so the sandbox of Chromium. The level "restricted" allows a profile that is on the nodes.
 */
const securityOf = (
  shape: HostShape,
  { browserCalls }: PodSettings,
): Pick<V1PodSpec, 'securityContext'> => {
  if (kindOf(shape) !== 'browser' || browserCalls === undefined) return restricted;
  if (shape.isolation !== 'container') return restricted;
  const seccompProfile = { type: 'Localhost', localhostProfile: browserCalls };
  return { securityContext: { ...restricted.securityContext, seccompProfile } };
};

const resourcesOf = ({ memoryMb, cpus }: HostSize, cpuRequest: string) => ({
  requests: { memory: `${memoryMb}Mi`, cpu: cpuRequest, 'ephemeral-storage': '64Mi' },
  limits: { memory: `${memoryMb}Mi`, cpu: String(cpus), 'ephemeral-storage': '64Mi' },
});

/** Returns the node's folder that hosts share, if the operator configured one; it has to exist on the node. */
const sharedOf = (
  shape: HostShape,
  { host }: PodSettings,
): { volumes: V1Volume[]; mounts: V1VolumeMount[] } => {
  const shared = sharedSnapshotsOf(shape, host);
  if (shared === undefined) return { volumes: [], mounts: [] };
  const name = 'snapshots';
  return {
    volumes: [{ name, hostPath: { path: shared.path, type: 'Directory' } }],
    mounts: [{ name, mountPath: sharedFolder }],
  };
};

/** Builds the pod spec that all hosts of a shape share. */
const specOf = (shape: HostShape, settings: PodSettings): V1PodSpec => {
  const shared = sharedOf(shape, settings);
  const { size } = shape;
  const { cpuRequest, terminationGracePeriodSeconds } = templateOf(shape);
  const placement = placementOf(shape);
  const priority =
    placement.priorityClassName ?? settings.priorityClasses[shape.tier ?? 'standard'];
  return {
    ...placement,
    ...(priority === undefined ? {} : { priorityClassName: priority }),
    ...securityOf(shape, settings),
    restartPolicy: 'Never',
    terminationGracePeriodSeconds: terminationGracePeriodSeconds ?? graceSeconds,
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    // Process 1 is not the host, so it reaps orphans, and the host can be killed.
    shareProcessNamespace: true,
    containers: [
      {
        name: hostContainer,
        image: imageOf(shape, settings),
        imagePullPolicy: settings.pullPolicy,
        ports: [{ name: 'api', containerPort: apiPort, protocol: 'TCP' }],
        resources: resourcesOf(size, cpuRequest ?? `${settings.cpuRequestMilli}m`),
        securityContext: restrictedContainer,
        volumeMounts: [{ name: 'scratch', mountPath: '/tmp' }, ...shared.mounts],
        terminationMessagePolicy: 'File',
      },
    ],
    volumes: [
      {
        name: 'scratch',
        emptyDir: { medium: 'Memory', sizeLimit: `${scratchMb(size.memoryMb)}Mi` },
      },
      ...shared.volumes,
    ],
  };
};

/** Returns the digest of the settings from which a pod of this shape is made. */
export const podDigest = (shape: HostShape, settings: PodSettings): string => {
  const { labels, annotations } = templateOf(shape);
  return digestOf([specOf(shape, settings), shape.tier, labels ?? null, annotations ?? null]);
};

/** File in every container whose text the API server shows once the container has ended. */
const terminationLog = '/dev/termination-log';

/** The host in a pod reports its address, since the cluster assigns it only when the pod is scheduled. */
export const addressing = 'own_ip';

/**
 * Settings of a host that depend on Kubernetes. The host listens on its pod's own address, and reads its token from the
 * mounted secret.
 */
const place = {
  listenIp: `$(${addressVariable})`,
  addressing,
  tokenFile: `${tokenFolder}/${tokenKey}`,
  ledgerMark: terminationLog,
} as const;

const environmentOf = (spec: LaunchSpec, { host }: PodSettings): V1EnvVar[] => [
  // Defined before the variable that refers to it.
  { name: addressVariable, valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } },
  ...Object.entries(containerEnvironment(spec, host, place)).map(([name, value]) => ({
    name,
    value,
  })),
];

const tokenMount = { name: 'token', mountPath: tokenFolder, readOnly: true };

/** Builds the volume with the host's secret as a file, readable by the group of the host's user. */
const tokenVolume = ({ hostId }: LaunchSpec): V1Volume => ({
  name: 'token',
  secret: { secretName: containerName(hostId), defaultMode: 0o440 },
});

/** Names of the programs in a cluster, by kind. */
const programNames: Readonly<Record<HostKind, string>> = {
  world: 'svc-world-host',
  browser: 'svc-browser',
};

/** Builds the pod of a host, with `owner` as its controller. */
export const podOf = (spec: LaunchSpec, settings: PodSettings, owner?: V1OwnerReference): V1Pod => {
  const { hostId, shape } = spec;
  const { installation, namespace } = settings;
  const { labels, annotations } = templateOf(shape);
  const made = specOf(shape, settings);
  const digest = podDigest(shape, settings);
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: containerName(hostId),
      namespace,
      labels: {
        ...labels,
        ...managedBy,
        'app.kubernetes.io/name': programNames[kindOf(shape)],
        ...containerLabels(spec, installation, digest),
        ...(shape.tier === null ? {} : { [tierLabel]: shape.tier }),
      },
      // Idle until it serves a session (arrangement.ts).
      annotations: { [safeToEvict]: 'true', ...annotations },
      ...(owner === undefined ? {} : { ownerReferences: [owner] }),
    },
    spec: {
      ...made,
      schedulingGates: [{ name: tokenGate }],
      containers: made.containers.map((container) => ({
        ...container,
        env: environmentOf(spec, settings),
        volumeMounts: [...(container.volumeMounts ?? []), tokenMount],
      })),
      volumes: [...(made.volumes ?? []), tokenVolume(spec)],
    },
  };
};

/** Builds the secret with a host's token. Its pod owns it, so both are removed together. */
export const secretOf = (
  { hostId, token }: LaunchSpec,
  { installation, namespace }: PodSettings,
  podUid: string,
): V1Secret => {
  const name = containerName(hostId);
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      name,
      namespace,
      labels: { ...managedBy, [labelNames.installation]: installation, [labelNames.host]: hostId },
      ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name, uid: podUid }],
    },
    immutable: true,
    stringData: { [tokenKey]: token.reveal() },
  };
};
