/**
 * Knows the facts about the cluster's nodes that matter to hosts: how many processors each has, and since when it is
 * cordoned. Nodes belong to no namespace, so the orchestrator may lack the right to read them. Then each node counts as
 * a small one, and none as cordoned.
 */
import type { V1Node } from '@kubernetes/client-node';
import type { Log } from '#runtime/log.ts';
import { type Cluster, clusterRefusal, isStatus } from './cluster.ts';

/** Number of processors that an unknown node is assumed to have: as many as the smallest usual machine. */
const usualProcessors = 2;
const pageSize = 200;
/** Interval after which a refused right to read nodes is tried again, in milliseconds. */
const askAgainMs = 10 * 60_000;

type Known = { processors: number; cordonedAt: number | undefined };

export type Nodes = {
  /** Reads the nodes again. */
  look(): Promise<void>;
  /** Returns the number of whole processors of a node. */
  processorsOf(name: string): number;
  /** Returns for how many milliseconds a node has been seen cordoned; undefined when it is not. */
  cordonedForMs(name: string): number | undefined;
};

/** Parses a quantity such as `8` or `7910m` into whole processors, at least one. */
const processorsIn = (quantity: string | undefined): number => {
  const [, digits, unit] = /^(\d+(?:\.\d+)?)(m?)$/.exec(quantity ?? '') ?? [];
  if (digits === undefined) return usualProcessors;
  return Math.max(1, Math.round(Number(digits) / (unit === 'm' ? 1_000 : 1)));
};

/** Creates the view of the nodes, empty until the first read. `now` is a monotonic clock in milliseconds. */
export const createNodes = (
  { core }: Cluster,
  log: Log,
  now: () => number = () => performance.now(),
): Nodes => {
  let known = new Map<string, Known>();
  let deniedAt = Number.NEGATIVE_INFINITY;

  const listAll = async (): Promise<V1Node[]> => {
    const nodes: V1Node[] = [];
    let page: string | undefined;
    do {
      const { items, metadata } = await core.listNode({
        limit: pageSize,
        ...(page === undefined ? {} : { _continue: page }),
      });
      nodes.push(...items);
      page = metadata?._continue || undefined;
    } while (page !== undefined);
    return nodes;
  };

  const describe = ({ metadata, spec, status }: V1Node): [string, Known] => {
    const name = metadata?.name ?? '';
    const since = known.get(name)?.cordonedAt ?? now();
    return [
      name,
      {
        processors: processorsIn(status?.allocatable?.cpu ?? status?.capacity?.cpu),
        cordonedAt: spec?.unschedulable === true ? since : undefined,
      },
    ];
  };

  return {
    async look() {
      if (now() - deniedAt < askAgainMs) return;
      try {
        known = new Map((await listAll()).map(describe));
      } catch (error) {
        if (!isStatus(error, 403)) throw clusterRefusal('listing nodes', error);
        if (deniedAt === Number.NEGATIVE_INFINITY) {
          log.warn(
            {},
            `the orchestrator may not list nodes: each counts as ${usualProcessors} processors`,
          );
        }
        deniedAt = now();
      }
    },
    processorsOf: (name) => known.get(name)?.processors ?? usualProcessors,
    cordonedForMs(name) {
      const since = known.get(name)?.cordonedAt;
      return since === undefined ? undefined : now() - since;
    },
  };
};
