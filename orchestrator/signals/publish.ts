/**
 * Publishes the pools to the control plane: their offers, how many hosts each keeps warm, and why a pool launches none.
 * With these, the control plane refuses an open that no pool suits, and explains why a session got no host. The
 * orchestrator publishes again after each change, and repeats in the next round what failed.
 */
import { limits } from '#domain/limits.ts';
import { offerOf } from '#pools/pool-config.ts';
import type { Log } from '#runtime/log.ts';
import { type Loop, startLoop } from '#runtime/loop.ts';
import type { PublishedPool } from '#wire/pool-api/operations.ts';
import type { PoolApi } from '../control-plane/pool.ts';
import type { PoolStatus } from '../learned/pool-memory.ts';

const everyMs = 1_000;
const reasonLength = 4_000;
/**
 * Number of rounds after which the pools are published again, since a missing world may have been created meanwhile.
 */
const roundsBetween = 60;

const publishedPool = ({ config, target, launches }: PoolStatus): PublishedPool => ({
  name: config.pool,
  ...offerOf(config),
  minimum: config.minimum,
  maximum: config.maximum,
  target,
  held: launches.reason?.slice(0, reasonLength) ?? null,
  worlds: [...config.worlds],
});

export type PublishParts = {
  statuses(): readonly PoolStatus[];
  /** Returns why the latest configuration was refused, if it was. */
  refusal(): string | undefined;
  /** Returns the text of the pools file; undefined without one. */
  file(): string | undefined;
};

/** Starts to publish the pools at each round; there are none before the first plan. */
export const startPublishing = (
  pool: PoolApi,
  { statuses, refusal, file }: PublishParts,
  log: Log,
): Loop<number> => {
  let published: string | undefined;
  let keptFile: string | undefined;
  let rounds = 0;
  let unknownBefore = '';
  /** Returns the file, unless the control plane keeps it already or it is too long. */
  const newFile = (): string | undefined => {
    const text = file();
    const isKept = text === keptFile || (text?.length ?? 0) > limits.poolsFileChars;
    return isKept ? undefined : text;
  };
  return startLoop({
    name: 'publish',
    everyMs,
    log,
    tick: async () => {
      const pools = statuses().map(publishedPool);
      const refused = refusal()?.slice(0, reasonLength) ?? null;
      const text = JSON.stringify({ pools, refused });
      rounds += 1;
      const fileToSend = newFile();
      const isPublished = text === published && fileToSend === undefined && rounds < roundsBetween;
      if (pools.length === 0 || isPublished) return pools.length;
      const unknown = (await pool.publish(pools, refused, fileToSend)).join(', ');
      keptFile = fileToSend ?? keptFile;
      if (unknown !== '' && unknown !== unknownBefore) {
        log.warn({ worlds: unknown }, 'pools preload worlds that do not exist');
      }
      unknownBefore = unknown;
      published = text;
      rounds = 0;
      return pools.length;
    },
  });
};
