/**
 * What is done for hosts beside running them: their fence is put up again should somebody remove it, the
 * pods that serve sessions of the premium tier are kept from being evicted, and images are on nodes before
 * a host is launched there. It follows what the orchestrator wants, a step behind: a host that has just
 * been given a session is protected a moment later.
 */
import type { V1DaemonSet, V1PodDisruptionBudget } from '@kubernetes/client-node';
import { forEachAtOnce } from '#runtime/at-once.ts';
import type { Log } from '#runtime/log.ts';
import { startLoop } from '#runtime/loop.ts';
import type { LoopView } from '#runtime/loop-board.ts';
import type { HostShape } from '../../pools/pool-config.ts';
import { digestOf } from '../digest.ts';
import type { Wanted } from '../driver.ts';
import { labelNames } from '../labels.ts';
import type { Cluster } from './cluster.ts';
import {
  imageOf,
  type PodSettings,
  placementOf,
  protectedLabel,
  restricted,
  restrictedContainer,
  safeToEvict,
  tierLabel,
} from './pod.ts';
import type { KnownPod } from './pod-watch.ts';
import type { Pods } from './pods.ts';
import { apply, budgetName, selectorOf, standingMetadata } from './standing.ts';

/** It follows what is wanted when that changes; otherwise it looks again after this long. */
const everyMs = 30_000;
const atOnce = 8;
/** No cluster has so many pods of one installation: a budget that can never be met allows no eviction. */
const unreachable = 1_000_000;

export type ArrangementOptions = PodSettings & {
  cluster: Cluster;
  prePull: boolean;
  log: Log;
  pods: Pods;
  /** Puts up the fence of all hosts, unless that was done a moment ago. */
  fence(): Promise<void>;
  /** The pods as they were last known. */
  known(): KnownPod[];
};

export type Arrangement = LoopView & { want(wanted: Wanted): void; stop(): Promise<void> };

/**
 * Nothing may evict a host that serves a premium session. It is written as a number of pods that must
 * stay, the one form that Kubernetes has for pods without a controller.
 */
export const budgetOf = (settings: PodSettings): V1PodDisruptionBudget => ({
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: standingMetadata(settings, budgetName),
  spec: {
    minAvailable: unreachable,
    selector: {
      matchLabels: { [labelNames.installation]: settings.installation, [protectedLabel]: 'yes' },
    },
    unhealthyPodEvictionPolicy: 'AlwaysAllow',
  },
});

/** What of a pod's placement says which nodes it can be on, and how its image gets there. */
const ofNodes = [
  'nodeSelector',
  'tolerations',
  'affinity',
  'runtimeClassName',
  'imagePullSecrets',
] as const;

/** Keeps an image on every node that hosts of this shape can be on: by a pod that does nothing. */
export const pullOf = (shape: HostShape, settings: PodSettings): V1DaemonSet => {
  const image = imageOf(shape, settings);
  const whole = placementOf(shape);
  const placement: Readonly<Record<string, unknown>> = Object.fromEntries(
    ofNodes.map((key) => [key, whole[key]]),
  );
  const metadata = standingMetadata(settings, `image-${digestOf([image, placement])}`);
  const labels = { ...metadata.labels, [labelNames.role]: 'image', 'svc.set': metadata.name ?? '' };
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata,
    spec: {
      selector: { matchLabels: { 'svc.set': metadata.name ?? '' } },
      template: {
        metadata: { labels },
        spec: {
          ...placement,
          ...restricted,
          automountServiceAccountToken: false,
          enableServiceLinks: false,
          terminationGracePeriodSeconds: 1,
          containers: [
            {
              name: 'image',
              image,
              imagePullPolicy: 'IfNotPresent',
              command: ['sleep', 'infinity'],
              securityContext: restrictedContainer,
              resources: {
                requests: { cpu: '1m', memory: '8Mi' },
                limits: { cpu: '10m', memory: '16Mi' },
              },
            },
          ],
        },
      },
    },
  };
};

/** Starts to follow what is wanted. */
export const startArrangement = (options: ArrangementOptions): Arrangement => {
  const { cluster, namespace, installation, log } = options;
  let wanted: Wanted | undefined;
  /** Digests of what stands as it should, so that it is not applied again and again. */
  const applied = new Map<string, string>();

  const ensure = async (object: V1DaemonSet | V1PodDisruptionBudget): Promise<void> => {
    const name = object.metadata?.name ?? '';
    const digest = digestOf(object);
    if (applied.get(name) === digest) return;
    await apply(cluster, object);
    applied.set(name, digest);
  };

  const setProtected = async ({ name, uid }: KnownPod, isServing: boolean): Promise<void> => {
    const labels = { [protectedLabel]: isServing ? 'yes' : null };
    const annotations = { [safeToEvict]: String(!isServing) };
    await options.pods.patch(name, uid, { metadata: { labels, annotations } });
  };

  /** The pods of premium hosts that are protected and need not be, or the other way round. */
  const misplaced = ({ serving }: Wanted): KnownPod[] =>
    options
      .known()
      .filter(
        ({ labels, container }) =>
          labels[tierLabel] === 'premium' &&
          (labels[protectedLabel] === 'yes') !== serving.has(container.hostId),
      );

  const protect = async (now: Wanted): Promise<void> => {
    const changed = misplaced(now);
    if (changed.length > 0 || now.shapes.some(({ tier }) => tier === 'premium')) {
      await ensure(budgetOf(options));
    }
    await forEachAtOnce(atOnce, changed, (pod) =>
      setProtected(pod, now.serving.has(pod.container.hostId)),
    );
  };

  const removeSets = async (kept: ReadonlySet<string>): Promise<void> => {
    const { apps } = cluster;
    const labelSelector = selectorOf(installation);
    const { items } = await apps.listNamespacedDaemonSet({ namespace, labelSelector });
    for (const { metadata } of items) {
      const name = metadata?.name ?? '';
      if (kept.has(name)) continue;
      await apps.deleteNamespacedDaemonSet({ name, namespace });
      applied.delete(name);
    }
  };

  const pull = async ({ shapes }: Wanted): Promise<void> => {
    const sets = options.prePull ? shapes.map((shape) => pullOf(shape, options)) : [];
    const names = new Set(sets.flatMap(({ metadata }) => metadata?.name ?? []));
    const now = [...names].sort().join(' ');
    for (const set of sets) await ensure(set);
    if (now === applied.get('')) return;
    await removeSets(names);
    applied.set('', now);
  };

  const loop = startLoop({
    name: 'arrange',
    everyMs,
    log,
    tick: async () => {
      await options.fence();
      if (wanted === undefined) return;
      await protect(wanted);
      await pull(wanted);
    },
  });

  return {
    want(next) {
      const isNew = next.shapes !== wanted?.shapes;
      wanted = next;
      if (isNew || misplaced(next).length > 0) loop.nudge();
    },
    status: loop.status,
    stop: () => loop.stop(),
  };
};
