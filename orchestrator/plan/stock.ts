/** Sorts a pool's hosts by their remaining use to the pool; all decisions about its size use this. */
import type { HostEnd } from '#domain/host.ts';
import type { PoolHost, PoolWorld } from '#wire/pool-api/operations.ts';
import type { Container, ContainerTrouble } from '../driver/driver.ts';
import { staleness } from './host.ts';
import type { Deadlines, PoolSettings } from './terms.ts';

/** Hosts that hold one world version, or are loading it, before any session has used them. */
export type Held = {
  versionId: string;
  /** Number of hosts that the pool keeps loaded with this version. */
  wanted: number;
  warm: PoolHost[];
  loading: number;
};

export type Stock = {
  pool: PoolSettings;
  /** Number of hosts that are not gone; they count against the maximum. */
  live: number;
  /** Number of starting hosts, without those that their runtime has trouble with. */
  starting: number;
  /**
   * Number of starting hosts that use processor time. A host that has been starting for long waits or hangs, and does
   * not count.
   */
  atWork: number;
  draining: number;
  /** Trouble of the runtime with a starting container; further launches would have the same trouble. */
  trouble: ContainerTrouble['kind'] | undefined;
  /** True if a host was just assigned to a session, which is loading there. */
  isLoading: boolean;
  /** Warm hosts without a world, which suit any session of the pool. */
  fresh: PoolHost[];
  /** One entry for each version that the pool keeps loaded. */
  held: Held[];
  /** Warm hosts that hold a version and that sessions have used. */
  spare: PoolHost[];
  /** Warm hosts with a version that is no longer a head, so that no session will ask for it. */
  superseded: PoolHost[];
  /** Unused warm hosts that may hold a world whose head is not known for now. */
  unsure: { wanted: number; warm: PoolHost[] };
  /** Warm hosts to be replaced, and why. */
  stale: Map<PoolHost, HostEnd>;
};

const newStock = (pool: PoolSettings): Stock => ({
  pool,
  live: 0,
  starting: 0,
  atWork: 0,
  draining: 0,
  trouble: undefined,
  isLoading: false,
  fresh: [],
  held: [],
  spare: [],
  superseded: [],
  unsure: { wanted: 0, warm: [] },
  stale: new Map(),
});

/**
 * Returns the versions that a pool keeps loaded: the heads of its worlds as the control plane reports them. A head
 * that it does not report is unknown for now; then no version counts as superseded.
 */
const heldWorlds = ({ config }: PoolSettings, worlds: readonly PoolWorld[]) => {
  const heads = config.worlds.map(({ world, hosts }) => ({
    hosts,
    versionId: worlds.find((one) => one.pool === config.pool && one.world === world)?.versionId,
  }));
  const unknown = heads.filter(({ versionId }) => versionId === undefined);
  return {
    unsure: { wanted: unknown.reduce((sum, { hosts }) => sum + hosts, 0), warm: [] },
    held: heads.flatMap(({ versionId, hosts }): Held[] =>
      versionId === undefined ? [] : [{ versionId, wanted: hosts, warm: [], loading: 0 }],
    ),
  };
};

type StockDeadlines = Pick<Deadlines, 'loadingMs' | 'startingMs'>;

/** Counts and sorts the hosts of one pool, one by one. */
const stockTaker = (
  pool: PoolSettings,
  worlds: readonly PoolWorld[],
  { loadingMs, startingMs }: StockDeadlines,
) => {
  const { unsure, held } = heldWorlds(pool, worlds);
  const stock: Stock = { ...newStock(pool), held, unsure };
  const heldOf = ({ versionId, uses }: PoolHost): Held | undefined =>
    uses > 0 || versionId === null ? undefined : held.find((one) => one.versionId === versionId);

  const addWarm = (host: PoolHost, container: Container | undefined): void => {
    const why = staleness(host, container, pool);
    if (why !== undefined) stock.stale.set(host, why);
    const own = heldOf(host);
    if (own !== undefined) own.warm.push(host);
    else if (host.versionId === null) stock.fresh.push(host);
    else if (host.uses > 0) stock.spare.push(host);
    else if (stock.unsure.wanted > 0) stock.unsure.warm.push(host);
    else stock.superseded.push(host);
  };

  const addLoading = (host: PoolHost): void => {
    const own = heldOf(host);
    if (own !== undefined) own.loading += 1;
  };

  return {
    stock,
    /** Adds a host; one that `leaves` by this plan only takes up capacity. */
    add(host: PoolHost, container: Container | undefined, leaves: boolean): void {
      stock.live += 1;
      const trouble = host.state === 'starting' ? container?.trouble : undefined;
      // Trouble of an outdated container does not count, since a new one may not have it.
      if (container?.digest === pool.digest) stock.trouble ??= trouble?.kind;
      if (leaves || host.state === 'draining') stock.draining += 1;
      else if (host.state === 'warm') addWarm(host, container);
      else if (host.state === 'assigned') stock.isLoading ||= host.stateAgeMs < loadingMs;
      else if (host.state === 'recycling') addLoading(host);
      else if (trouble === undefined) {
        stock.starting += 1;
        if (host.stateAgeMs < startingMs) stock.atWork += 1;
      }
    },
  };
};

export type StockTaker = ReturnType<typeof stockTaker>;

/** Creates one counter for each pool, by the pool's name. */
export const createStockTakers = (
  pools: readonly PoolSettings[],
  worlds: readonly PoolWorld[],
  deadlines: StockDeadlines,
): Map<string, StockTaker> =>
  new Map(pools.map((pool) => [pool.config.pool, stockTaker(pool, worlds, deadlines)]));
