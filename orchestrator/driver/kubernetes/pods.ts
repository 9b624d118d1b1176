/**
 * Reads, creates, changes and removes an installation's pods on the API server. A pod with another installation's
 * label counts as absent.
 */
import {
  PatchStrategy,
  setHeaderOptions,
  type V1Pod,
  type V1PodList,
} from '@kubernetes/client-node';
import { AppError } from '#domain/error.ts';
import type { Owner } from '../labels.ts';
import { containerName, labelNames, ownerOf } from '../labels.ts';
import { type Cluster, clusterRefusal, isStatus } from './cluster.ts';
import { type ResourceScope, selectorOf } from './resources.ts';

/** Number of pods on one page of a list, small enough that a large cluster answers each page soon. */
const pageSize = 500;
const logLines = 50;
const logBytes = 64 * 1024;
const eventsShown = 5;

export type FoundPod = { owner: Owner; uid: string; name: string; pod: V1Pod };

/** Every pod of the installation, and the resource version of the list. */
export type PodList = { pods: V1Pod[]; resourceVersion: string };

/** Changes that the cluster accepts for an existing pod; null removes a field. */
export type PodChange = {
  metadata?: {
    labels?: Record<string, string | null>;
    annotations?: Record<string, string | null>;
  };
  spec?: { schedulingGates: null };
};

/** Returns the selector for the pods of an installation's hosts. */
export const hostSelector = (installation: string): string =>
  `${selectorOf(installation)},${labelNames.role}=host`;

/** Access to the pods of an installation. */
export class Pods {
  readonly #core: Cluster['core'];
  readonly #scope: ResourceScope;

  constructor({ core }: Pick<Cluster, 'core'>, scope: ResourceScope) {
    this.#core = core;
    this.#scope = scope;
  }

  async list(): Promise<PodList> {
    const { namespace } = this.#scope;
    const pods: V1Pod[] = [];
    let page: string | undefined;
    try {
      for (;;) {
        const { items, metadata } = await this.#readPage(page);
        pods.push(...items);
        page = metadata?._continue || undefined;
        const resourceVersion = metadata?.resourceVersion ?? '';
        if (page === undefined) return { pods, resourceVersion };
      }
    } catch (error) {
      throw clusterRefusal(`listing pods in namespace ${namespace}`, error);
    }
  }

  async find(hostId: string): Promise<FoundPod | undefined> {
    const { installation, namespace } = this.#scope;
    const name = containerName(hostId);
    try {
      const pod = await this.#core.readNamespacedPod({ name, namespace });
      const owner = ownerOf(pod.metadata?.labels ?? {});
      const uid = pod.metadata?.uid;
      if (uid === undefined || owner?.installation !== installation) return undefined;
      return owner.hostId === hostId ? { owner, uid, name, pod } : undefined;
    } catch (error) {
      if (isStatus(error, 404)) return undefined;
      throw clusterRefusal(`reading pod ${namespace}/${name}`, error);
    }
  }

  /** Creates a pod; returns undefined when one of its name exists. */
  async create(pod: V1Pod): Promise<V1Pod | undefined> {
    const { namespace } = this.#scope;
    try {
      return await this.#core.createNamespacedPod({ namespace, body: pod });
    } catch (error) {
      if (isStatus(error, 409)) return undefined;
      throw clusterRefusal(`creating pod ${namespace}/${pod.metadata?.name}`, error);
    }
  }

  /** Changes the pod of this name and uid by a merge patch; returns undefined when it is gone. */
  async patch(name: string, uid: string, change: PodChange): Promise<V1Pod | undefined> {
    const { namespace } = this.#scope;
    const { metadata, spec } = change;
    const body = { metadata: { ...metadata, uid }, ...(spec === undefined ? {} : { spec }) };
    const options = setHeaderOptions('Content-Type', PatchStrategy.MergePatch);
    try {
      return await this.#core.patchNamespacedPod({ name, namespace, body }, options);
    } catch (error) {
      // 409: another pod has its name by now.
      if (isStatus(error, 404, 409)) return undefined;
      throw clusterRefusal(`changing pod ${namespace}/${name}`, error);
    }
  }

  /** Requests a pod's deletion; does nothing when the pod of that uid is gone. */
  async remove({ name, uid }: FoundPod, gracePeriodSeconds: number): Promise<void> {
    const { namespace } = this.#scope;
    try {
      const body = { gracePeriodSeconds, preconditions: { uid } };
      await this.#core.deleteNamespacedPod({ name, namespace, body });
    } catch (error) {
      // 409: another pod has its name by now.
      if (!isStatus(error, 404, 409)) {
        throw clusterRefusal(`deleting pod ${namespace}/${name}`, error);
      }
    }
  }

  /** Returns the last output of a host; for a pod that never ran, the cluster's events about it. */
  async logs(found: FoundPod): Promise<string> {
    try {
      const log = await this.#readLog(found);
      return log === '' ? await this.#readEvents(found) : log;
    } catch (error) {
      const { namespace } = this.#scope;
      throw clusterRefusal(`reading the output of pod ${namespace}/${found.name}`, error);
    }
  }

  #readPage(page: string | undefined): Promise<V1PodList> {
    const { installation, namespace } = this.#scope;
    return this.#core.listNamespacedPod({
      namespace,
      labelSelector: hostSelector(installation),
      limit: pageSize,
      ...(page === undefined ? {} : { _continue: page }),
    });
  }

  async #readEvents({ name, uid }: FoundPod): Promise<string> {
    const { namespace } = this.#scope;
    const fieldSelector = `involvedObject.name=${name},involvedObject.uid=${uid}`;
    const { items } = await this.#core.listNamespacedEvent({ namespace, fieldSelector });
    return items
      .filter(({ type }) => type === 'Warning')
      .slice(-eventsShown)
      .map(({ reason, message }) => `${reason}: ${message}`)
      .join('\n');
  }

  async #readLog({ name, pod }: FoundPod): Promise<string> {
    if (pod.spec?.nodeName === undefined) return ''; // no container of it was ever started
    const { namespace } = this.#scope;
    const bounds = { tailLines: logLines, limitBytes: logBytes };
    try {
      return await this.#core.readNamespacedPodLog({ name, namespace, ...bounds });
    } catch (error) {
      // 400: its container has not run yet, or is no longer kept.
      if (isStatus(error, 400, 404)) return '';
      throw error;
    }
  }
}

/** Builds the error for a pod of the wanted name that belongs to another installation. */
export const foreignPod = (hostId: string, { installation, namespace }: ResourceScope): AppError =>
  new AppError(
    'unavailable',
    `Kubernetes: pod ${namespace}/${containerName(hostId)} belongs to an installation other than ${installation}`,
  );
