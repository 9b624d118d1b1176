/**
 * The key pairs of the control plane's configuration. Those that some running control plane has are valid, so that
 * deployments with different pairs, and replicas of before and after a change, do not lock each other out. One that
 * none has any more is revoked after a while, for good. The while counts only while this replica runs and is heard:
 * after a time in which nothing ran, nobody is taken for gone. A pair that only replicas of the release before have
 * is left alone, as these do not tell that they run.
 */
import type { Log } from '#runtime/log.ts';
import { type Loop, startLoop } from '#runtime/loop.ts';
import type { Secret } from '#runtime/secret.ts';
import type { Database, Queryable } from '../../db/core/database.ts';
import {
  type ConfiguredKey,
  ensureKeyPairs,
  findRefusedPairs,
  nameKeys,
  revokeUnnamed,
} from '../../db/projects/keys.ts';
import { hashSecretKey } from './tokens.ts';

export type KeyPair = {
  publicKey: string;
  secretKey: Secret;
  /** Of the organization, and of none of its projects. */
  ofOrganization?: boolean;
};

/** How often each control plane names its pairs. */
const everyMs = 20_000;
/** A pair that none has named for so long is of none. */
export const goneMs = 10 * 60_000;

const place = { organization: 'local', project: 'default' };

const hashed = (pairs: readonly KeyPair[]): ConfiguredKey[] =>
  pairs.map(({ publicKey, secretKey, ofOrganization = false }) => ({
    publicKey,
    ofOrganization,
    secretHash: hashSecretKey(secretKey.reveal()),
  }));

/** Why each configured pair that cannot be used cannot, by its public key. */
export const findRefused = (
  db: Queryable,
  pairs: readonly KeyPair[],
): Promise<Map<string, string>> => findRefusedPairs(db, hashed(pairs));

/** Makes the function that names pairs and revokes those of nobody; the clock is given in milliseconds. */
export const createNaming = (
  db: Queryable,
  publicKeys: readonly string[],
  now: () => number = () => performance.now(),
) => {
  let namedAt = Number.NEGATIVE_INFINITY;
  let heardSince = 0;
  return async (): Promise<string[]> => {
    await nameKeys(db, publicKeys);
    const time = now();
    if (time - namedAt > 3 * everyMs) heardSince = time;
    namedAt = time;
    return time - heardSince < goneMs ? [] : revokeUnnamed(db, publicKeys, goneMs);
  };
};

/** Makes the pairs where they are not there, and goes on naming them and revoking those of nobody. */
export const openConfiguredKeys = async (
  db: Database,
  pairs: readonly KeyPair[],
  log: Log,
): Promise<Loop<void>> => {
  if (pairs.length > 0) await ensureKeyPairs(db, place, hashed(pairs));
  for (const [publicKey, why] of await findRefused(db, pairs))
    log.error({ publicKey, why }, 'a key pair of the configuration is refused; make a new one');
  const publicKeys = pairs.map(({ publicKey }) => publicKey);
  const name = createNaming(db, publicKeys);
  const tick = async (): Promise<void> => {
    const revoked = await name();
    if (revoked.length > 0) log.warn({ revoked }, 'key pairs that no control plane has any more');
  };
  return startLoop({ name: 'keys', everyMs, tick, log });
};
