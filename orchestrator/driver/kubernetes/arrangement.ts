/**
 * Maintains what hosts need besides running: restores their network policy if it is removed, marks serving pods for
 * autoscalers and drains, and pulls images to nodes before hosts launch there. It follows the orchestrator's demand
 * with a delay, so a host that has just been given a session is marked a moment later.
 */

import type { V1DaemonSet, V1PodDisruptionBudget } from '@kubernetes/client-node';
import pMap from 'p-map';
import type { HostShape } from '#pools/pool-config.ts';
import type { Log } from '#runtime/log.ts';
import { startLoop } from '#runtime/loop.ts';
import type { LoopView } from '#runtime/loop-board.ts';
import { imageOf } from '../container-host.ts';
import { digestOf } from '../digest.ts';
import type { Serving, Wanted } from '../driver.ts';
import { labelNames } from '../labels.ts';
import type { Cluster } from './cluster.ts';
import type { KnownPod } from './known-pods.ts';
import type { Nodes } from './nodes.ts';
import {
  doNotDisrupt,
  type PodSettings,
  placementOf,
  protectedLabel,
  restricted,
  restrictedContainer,
  safeToEvict,
} from './pod.ts';
import type { PodChange, Pods } from './pods.ts';
import { apply, budgetName, resourceMetadata, selectorOf } from './resources.ts';

/** Interval between checks while the demand does not change, in milliseconds. */
const everyMs = 15_000;
/** Time after which an applied object is applied again, in case it was removed from the cluster, in milliseconds. */
const applyAgainMs = 60_000;
const atOnce = 8;
/**
 * Minimum of available pods that no installation reaches; a disruption budget that can never be met allows no
 * eviction.
 */
const unreachable = 1_000_000;

export type ArrangementOptions = PodSettings & {
  cluster: Cluster;
  prePull: boolean;
  log: Log;
  pods: Pods;
  /** Applies the network policy of all hosts, unless that was done a moment ago. */
  applyPolicy(): Promise<unknown>;
  nodes: Nodes;
  /** Time for which a premium session may stay on a node that is being drained, in milliseconds. */
  drainWaitMs: number;
  /** Returns the pods as last seen. */
  known(): KnownPod[];
};

export type Arrangement = LoopView & { want(wanted: Wanted): void; stop(): Promise<void> };

/**
 * Builds the budget that forbids the eviction of a host that serves a premium session. It is written as a minimum of
 * available pods, the only form that Kubernetes has for pods without a controller.
 */
export const budgetOf = (settings: PodSettings): V1PodDisruptionBudget => ({
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: resourceMetadata(settings, budgetName),
  spec: {
    minAvailable: unreachable,
    selector: {
      matchLabels: { [labelNames.installation]: settings.installation, [protectedLabel]: 'yes' },
    },
    unhealthyPodEvictionPolicy: 'AlwaysAllow',
  },
});

/** Fields of a pod's spec that decide which nodes it can run on, and how its image gets there. */
const ofNodes = [
  'nodeSelector',
  'tolerations',
  'affinity',
  'runtimeClassName',
  'imagePullSecrets',
] as const;

/** Builds a daemon set whose idle pods keep an image on every node that can run hosts of this shape. */
export const pullOf = (shape: HostShape, settings: PodSettings): V1DaemonSet => {
  const image = imageOf(shape, settings);
  const whole = placementOf(shape);
  const placement: Readonly<Record<string, unknown>> = Object.fromEntries(
    ofNodes.map((key) => [key, whole[key]]),
  );
  const metadata = resourceMetadata(settings, `image-${digestOf([image, placement])}`);
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
              imagePullPolicy: settings.pullPolicy,
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

/**
 * Mark of a pod for autoscalers and drains. `idle`: it may be moved. `busy`: autoscalers must leave its node alone; a
 * drain may evict it. `protected`: nothing may evict it.
 */
export type Mark = 'idle' | 'busy' | 'protected';

/**
 * Age from which a standard session's host is marked as busy, in milliseconds; most sessions end before the mark would
 * matter.
 */
const busyAfterMs = 10_000;

/**
 * Returns the mark that a pod should have; undefined if any mark is right. A premium session on a draining node is
 * protected for a limited time, counted from the later of the cordon and its own start. After that its eviction is
 * allowed.
 */
export const markOf = (
  serving: Serving | undefined,
  cordonedForMs: number | undefined,
  drainWaitMs: number,
): Mark | undefined => {
  if (serving === undefined) return 'idle';
  if (serving.tier === 'premium') {
    const isCordoned = cordonedForMs !== undefined;
    const isOver = isCordoned && Math.min(cordonedForMs, serving.forMs) >= drainWaitMs;
    return isOver ? 'busy' : 'protected';
  }
  return serving.forMs < busyAfterMs ? undefined : 'busy';
};

/** Returns the mark that a pod has. */
const markIn = ({ labels, annotations }: KnownPod): Mark | undefined => {
  if (labels[protectedLabel] === 'yes') return 'protected';
  if (annotations[safeToEvict] === 'true') return 'idle';
  return annotations[doNotDisrupt] === 'true' ? 'busy' : undefined;
};

/** Builds the label and annotations that express a mark to the disruption budget and to node autoscalers. */
export const metadataOf = (mark: Mark): NonNullable<PodChange['metadata']> => ({
  labels: { [protectedLabel]: mark === 'protected' ? 'yes' : null },
  annotations: {
    [safeToEvict]: String(mark === 'idle'),
    [doNotDisrupt]: mark === 'idle' ? null : 'true',
  },
});

/** Starts the loop that follows the demand. */
export const startArrangement = (options: ArrangementOptions): Arrangement => {
  const { cluster, namespace, installation, log } = options;
  let wanted: Wanted | undefined;
  let lookAt = 0;
  /** Digests of the objects that were applied, and the time until which each counts as unchanged. */
  const applied = new Map<string, { digest: string; until: number }>();
  let setsKept: string | undefined;

  const ensure = async (object: V1DaemonSet | V1PodDisruptionBudget): Promise<void> => {
    const name = object.metadata?.name ?? '';
    const digest = digestOf(object);
    const last = applied.get(name);
    if (last?.digest === digest && performance.now() < last.until) return;
    await apply(cluster, object);
    applied.set(name, { digest, until: performance.now() + applyAgainMs });
  };

  const cordoned = ({ container }: KnownPod): number | undefined =>
    container.node === undefined ? undefined : options.nodes.cordonedForMs(container.node);

  /** Returns the pods whose mark is wrong, each with the right mark. */
  const misplaced = ({ serving }: Wanted): { pod: KnownPod; mark: Mark }[] =>
    options.known().flatMap((pod) => {
      const mark = markOf(serving.get(pod.container.hostId), cordoned(pod), options.drainWaitMs);
      return mark === undefined || mark === markIn(pod) ? [] : [{ pod, mark }];
    });

  const protect = async (now: Wanted): Promise<void> => {
    const changed = misplaced(now);
    const isNeeded = changed.some(({ mark }) => mark === 'protected');
    if (isNeeded || now.shapes.some(({ tier }) => tier === 'premium')) {
      await ensure(budgetOf(options));
    }
    const patch = ({ pod: { name, uid }, mark }: (typeof changed)[number]) =>
      options.pods.patch(name, uid, { metadata: metadataOf(mark) });
    await pMap(changed, patch, { concurrency: atOnce });
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
    if (now === setsKept) return;
    await removeSets(names);
    setsKept = now;
  };

  /** Reads the nodes only once an interval, not on each change: they are many and change seldom. */
  const lookAtNodes = async (): Promise<void> => {
    if (performance.now() < lookAt) return;
    lookAt = performance.now() + everyMs;
    await options.nodes.look();
  };

  const loop = startLoop({
    name: 'arrange',
    everyMs,
    log,
    tick: async () => {
      await options.applyPolicy();
      await lookAtNodes();
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
