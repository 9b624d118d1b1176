/**
 * Keeps the last known state of an installation's pods. Lists and events of the API server may be older than what the
 * orchestrator has just done to a pod itself, so an older state never replaces a later one.
 */
import type { V1Pod } from '@kubernetes/client-node';
import type { Container } from '../driver.ts';
import { describePod } from './describe-pod.ts';

/** A pod, reduced to the fields that the orchestrator uses. */
export type KnownPod = {
  uid: string;
  /** Resource version of the pod. */
  version: string;
  name: string;
  labels: Readonly<Record<string, string>>;
  annotations: Readonly<Record<string, string>>;
  container: Container;
  /** Time at which it was described, in milliseconds since 1970. */
  describedAt: number;
};

/** Returns true if one resource version precedes another; false for versions that are not numbers. */
const isOlder = (one: string, other: string): boolean =>
  /^\d+$/.test(one) && /^\d+$/.test(other) && BigInt(one) < BigInt(other);

const knownPod = (pod: V1Pod): KnownPod | undefined => {
  const { name, uid, labels = {}, annotations = {}, resourceVersion = '' } = pod.metadata ?? {};
  const describedAt = Date.now();
  const container = describePod(pod, describedAt);
  if (name === undefined || uid === undefined || container === undefined) return undefined;
  return { name, uid, labels, annotations, container, describedAt, version: resourceVersion };
};

export class KnownPods {
  #pods = new Map<string, KnownPod>();
  /**
   * Time of the last change that the orchestrator made to each pod, by name. A list that was requested before that time
   * may not show the change.
   */
  readonly #changedAt = new Map<string, number>();
  readonly #onChange: () => void;

  /** `onChange` is called when a pod has appeared, changed or disappeared by `put` or `remove`. */
  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  all(): KnownPod[] {
    return [...this.#pods.values()];
  }

  /** Returns true if the pod of this name has this uid. */
  has(name: string, uid: string): boolean {
    return this.#pods.get(name)?.uid === uid;
  }

  /** Stores a pod's state, unless a later version of it is known. */
  put(pod: V1Pod): void {
    const known = knownPod(pod);
    if (known !== undefined) this.#store(known);
  }

  /** Stores the state of a pod that the orchestrator itself has just created or changed. */
  putOwn(pod: V1Pod): void {
    this.put(pod);
    this.#changedAt.set(pod.metadata?.name ?? '', performance.now());
  }

  /** Replaces all pods by those of a list that began at `startedAt`, except pods changed locally since then. */
  replace(listed: readonly V1Pod[], startedAt: number): void {
    const read = listed.flatMap((pod) => knownPod(pod) ?? []);
    const before = this.#pods;
    this.#pods = new Map(read.map((pod) => [pod.name, pod]));
    for (const [name, since] of this.#changedAt) {
      const pod = before.get(name);
      if (since < startedAt) this.#changedAt.delete(name);
      else if (pod !== undefined) this.#store(pod);
    }
  }

  /** Removes a pod, unless another one has its name by now. */
  remove(pod: V1Pod): void {
    const { name = '', uid } = pod.metadata ?? {};
    if (this.#pods.get(name)?.uid !== uid) return;
    this.forget(name);
    this.#onChange();
  }

  forget(name: string): void {
    this.#pods.delete(name);
    this.#changedAt.delete(name);
  }

  #store(now: KnownPod): void {
    const before = this.#pods.get(now.name);
    if (before?.uid === now.uid && isOlder(now.version, before.version)) return;
    this.#pods.set(now.name, now);
    const isSame = JSON.stringify(before?.container) === JSON.stringify(now.container);
    if (!isSame) this.#onChange();
  }
}
