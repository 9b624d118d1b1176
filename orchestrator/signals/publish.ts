/**
 * Tells the control plane which pools there are, how many hosts each keeps warm, and why one launches
 * none: an open that no pool suits is refused by it, and a session that got no host is told the reason.
 * Said anew whenever it has changed; what was not heard is said again by the next round.
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
/** Said again after so many rounds: a world that nobody had made may have been made since. */
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
  /** Why the configuration that was given last is not taken, if it is not. */
  refusal(): string | undefined;
  /** The text of the file that the pools are of; undefined where there is none. */
  file(): string | undefined;
};

/** Starts telling of the pools as they are at each round; there are none before the first plan. */
export const startPublishing = (
  pool: PoolApi,
  { statuses, refusal, file }: PublishParts,
  log: Log,
): Loop<number> => {
  let said: string | undefined;
  let keptFile: string | undefined;
  let rounds = 0;
  let unknownBefore = '';
  /** The file, unless it is kept already or too long for that. */
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
      const news = newFile();
      const isSaid = text === said && news === undefined && rounds < roundsBetween;
      if (pools.length === 0 || isSaid) return pools.length;
      const unknown = (await pool.publish(pools, refused, news)).join(', ');
      keptFile = news ?? keptFile;
      if (unknown !== '' && unknown !== unknownBefore) {
        log.warn({ worlds: unknown }, 'pools are to keep worlds loaded that nobody has made');
      }
      unknownBefore = unknown;
      said = text;
      rounds = 0;
      return pools.length;
    },
  });
};
