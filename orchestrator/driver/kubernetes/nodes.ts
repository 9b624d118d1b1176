/**
 * The nodes of the cluster, as far as hosts are concerned: how many processors each has, and since when one
 * is to be emptied. Nodes belong to no namespace, so reading them is a right that the orchestrator may lack;
 * then each node counts as a small one, and none is known to be emptied.
 */
import type { V1Node } from '@kubernetes/client-node';
import type { Log } from '#runtime/log.ts';
import { type Cluster, clusterRefusal, isStatus } from './cluster.ts';

/** Of a node that is not known: what the smallest usual machine has. */
const usualProcessors = 2;
const pageSize = 200;
/** Whether it may read nodes now is asked again after so long. */
const askAgainMs = 10 * 60_000;

type Known = { processors: number; cordonedAt: number | undefined };

export type Nodes = {
  /** Reads them anew. */
  look(): Promise<void>;
  /** Whole processors of a node. */
  processorsOf(name: string): number;
  /** Milliseconds for which a node has been known to be cordoned; undefined when it is not. */
  cordonedForMs(name: string): number | undefined;
};

/** `8`, `7910m`: whole processors, one at least. */
const processorsIn = (quantity: string | undefined): number => {
  const [, digits, unit] = /^(\d+(?:\.\d+)?)(m?)$/.exec(quantity ?? '') ?? [];
  if (digits === undefined) return usualProcessors;
  return Math.max(1, Math.round(Number(digits) / (unit === 'm' ? 1_000 : 1)));
};

/** Nodes that were never looked at. `now` is a clock in milliseconds that never goes back. */
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
          log.warn({}, `nodes may not be listed: each counts as ${usualProcessors} processors`);
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
