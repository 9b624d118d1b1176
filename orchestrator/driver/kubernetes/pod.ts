/**
 * The pod of a host: one unprivileged user, a read-only root, no capability, no token of the
 * cluster, bounded memory, processors and scratch space; it meets the Pod Security level "restricted".
 * What the operator says of a pool's pods is added where it cannot widen that.
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
import { digestOf } from '../digest.ts';
import type { LaunchSpec } from '../driver.ts';
import {
  browserEnvironment,
  type HostSettings,
  hostEnvironment,
  scratchMb,
  sharedFolder,
  sharedSnapshotsOf,
  snapshotsOf,
} from '../host-environment.ts';
import { containerName, labelNames, labelsOf } from '../labels.ts';
import { hostContainer } from './describe-pod.ts';
import type { KubernetesConfig, PullPolicy } from './kubernetes-config.ts';
import { managedBy, type ResourceScope } from './resources.ts';

const userId = 10_001;
/** The key of the token in a host's secret. */
const tokenKey = 'token';
const tokenFolder = '/run/svc';
const addressVariable = 'SVC_POD_ADDRESS';
/** Of an evicted host: as long as it may take to finish what it is at. */
const graceSeconds = 30;

/** Holds a pod back from the nodes until its secret is there; a launch that was cut off leaves it. */
const tokenGate = 'svc/token';

/** Set while a host serves a premium session: a disruption budget goes by it. */
export const protectedLabel = 'svc.protected';
/** The tier of a pool that has one. */
const tierLabel = 'svc.tier';
/** Autoscalers of nodes go by these: the first is the Cluster Autoscaler's, the second Karpenter's. */
export const safeToEvict = 'cluster-autoscaler.kubernetes.io/safe-to-evict';
export const doNotDisrupt = 'karpenter.sh/do-not-disrupt';

/** What every pod of an installation has in common. */
export type PodSettings = ResourceScope & {
  /** What hosts of a kind run whose pool names no image. */
  images: Readonly<Record<HostKind, string>>;
  /** The filter of system calls of browsers, as nodes have it; absent: the runtime's usual one. */
  browserCalls: string | undefined;
  /** Of the pods of pools that name none, by their tier. */
  priorityClasses: KubernetesConfig['priorityClasses'];
  /** When nodes pull images of hosts. */
  pullPolicy: PullPolicy;
  host: HostSettings;
  /** Processor time set aside for a host whose pool does not say, in thousandths of a processor. */
  cpuRequestMilli: number;
};

export const imageOf = (shape: HostShape, { images }: Pick<PodSettings, 'images'>): string =>
  shape.image ?? images[kindOf(shape)];

const templateOf = ({ kubernetes }: HostShape): KubernetesTable => kubernetes ?? {};

/** Where and how a pool's pods run, as its operator says; the cluster judges what it says in detail. */
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

/** Of one host, or of anything else of ours that runs on the nodes. */
export const restricted: Pick<V1PodSpec, 'securityContext'> = {
  securityContext: {
    runAsNonRoot: true,
    runAsUser: userId,
    runAsGroup: userId,
    fsGroup: userId,
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
 * The same for a pod of this shape. With a filter of its own a browser has user namespaces, and so the sandbox of
 * Chromium; the level "restricted" allows one that is on the nodes.
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

/** The folder of the node that hosts share, where the operator has one for them; the node has it already. */
const sharedOf = (
  shape: HostShape,
  { host }: PodSettings,
): { volumes: V1Volume[]; mounts: V1VolumeMount[] } => {
  const shared = kindOf(shape) === 'browser' ? undefined : sharedSnapshotsOf(shape, host);
  if (shared === undefined) return { volumes: [], mounts: [] };
  const name = 'snapshots';
  return {
    volumes: [{ name, hostPath: { path: shared.path, type: 'Directory' } }],
    mounts: [{ name, mountPath: sharedFolder }],
  };
};

/** The pod of any host of a shape, apart from what is a host's own. */
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
    // Something other than the host is process 1: it reaps orphans, and the host can be killed.
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

/** What a pod of this shape is made from. */
export const podDigest = (shape: HostShape, settings: PodSettings): string => {
  const { labels, annotations } = templateOf(shape);
  return digestOf([specOf(shape, settings), shape.tier, labels ?? null, annotations ?? null]);
};

/** File of every container whose text the API server shows once the container has ended. */
const terminationLog = '/dev/termination-log';

/** The host listens on its pod's own address, and tells the control plane that one. */
const environmentOf = (spec: LaunchSpec, settings: PodSettings): V1EnvVar[] => {
  const place = {
    listen: `$(${addressVariable}):${apiPort}`,
    reportsAddress: true,
    workDir: '/tmp/work',
    tokenFile: `${tokenFolder}/${tokenKey}`,
  };
  const plain =
    kindOf(spec.shape) === 'browser'
      ? browserEnvironment(spec, settings.host, { ...place, way: 'tunnel' })
      : hostEnvironment(spec, settings.host, {
          ...place,
          snapshots: snapshotsOf(spec.shape, settings.host),
          python: 'python3',
          ledgerMark: terminationLog,
          namespaces: ['pid', 'ipc', 'mount', 'net'],
        });
  return [
    // Before the one that is made of it.
    { name: addressVariable, valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } },
    ...Object.entries({ HOME: '/tmp', TMPDIR: '/tmp', ...plain }).map(([name, value]) => ({
      name,
      value,
    })),
  ];
};

const tokenMount = { name: 'token', mountPath: tokenFolder, readOnly: true };

/** The host's secret as a file, which the group of the host's user may read. */
const tokenVolume = ({ hostId }: LaunchSpec): V1Volume => ({
  name: 'token',
  secret: { secretName: containerName(hostId), defaultMode: 0o440 },
});

/** What programs of a kind are called in a cluster. */
const programNames: Readonly<Record<HostKind, string>> = {
  world: 'svc-world-host',
  browser: 'svc-browser',
};

/** The pod of a host, which is controlled by `owner`. */
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
        ...labelsOf({ installation, pool: shape.pool, hostId, digest }, 'host', kindOf(shape)),
        ...(shape.tier === null ? {} : { [tierLabel]: shape.tier }),
      },
      // Until it serves a session (arrangement.ts).
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

/** The secret of a host: its token. It goes with its pod, which owns it. */
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
