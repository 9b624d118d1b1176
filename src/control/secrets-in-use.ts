/**
 * Which value of the control plane's secret makes tokens, while it is replaced by another. Tokens of hosts and
 * sessions are derived from it and stored nowhere, and a host is told its session's once. So a new value is used
 * only when each replica has been started with it, and a session keeps to the one that was in use when it was
 * opened, whichever replica is asked.
 */
import type { Secret } from '#runtime/secret.ts';
import type { Database } from './db/pool.ts';
import { noteSecrets } from './db/secret-marks.ts';

export type SecretsInUse = {
  /** The value that was in use then. */
  at(time: Date): Secret;
};

/** By then every replica has been started with a new value. */
const rollMs = 10 * 60_000;

const markOf = (secret: Secret): string => secret.derive('mark of the secret').slice(0, 16);

/** Reads since when each value is in use. */
export const openSecretsInUse = async (db: Database, secret: Secret): Promise<SecretsInUse> => {
  const [present, ...others] = secret.each();
  const since = await noteSecrets(db, [markOf(present), ...others.map(markOf)], rollMs);
  const byAge = [present, ...others]
    .map((one) => ({ one, sinceMs: since.get(markOf(one)) ?? Number.NEGATIVE_INFINITY }))
    .sort((a, b) => (a.sinceMs === b.sinceMs ? 0 : b.sinceMs - a.sinceMs));
  return {
    at(time) {
      const found = byAge.find(({ sinceMs }) => sinceMs <= time.getTime()) ?? byAge.at(-1);
      return found?.one ?? present;
    },
  };
};
