/**
 * Key pairs in the configurations of control planes. A pair is valid while some running control plane has it. So
 * deployments with different pairs, and replicas before and after a change of the configuration, do not lock each other
 * out. A pair that no control plane has any more is permanently revoked after a delay. The delay passes only while this
 * replica runs and renews its own pairs; so after an outage of all replicas, no pair counts as abandoned. Pairs known
 * only to replicas of the previous release are never revoked, because such replicas do not report their pairs.
 */
import type { Log } from '#runtime/log.ts';
import { type Loop, startLoop } from '#runtime/loop.ts';
import type { Secret } from '#runtime/secret.ts';
import type { Database, Queryable } from '../../db/core/database.ts';
import {
  type ConfiguredKey,
  ensureKeyPairs,
  findRefusedPairs,
  renewKeys,
  revokeAbandoned,
} from '../../db/projects/keys.ts';
import { hashSecretKey } from './tokens.ts';

export type KeyPair = {
  publicKey: string;
  secretKey: Secret;
  /** True if the key belongs to the organization and to none of its projects. */
  ofOrganization?: boolean;
};

/** Interval at which each control plane renews its pairs, in milliseconds. */
const everyMs = 20_000;
/** Time without renewal after which a pair counts as abandoned, in milliseconds. */
export const goneMs = 10 * 60_000;

const place = { organization: 'local', project: 'default' };

const hashed = (pairs: readonly KeyPair[]): ConfiguredKey[] =>
  pairs.map(({ publicKey, secretKey, ofOrganization = false }) => ({
    publicKey,
    ofOrganization,
    secretHash: hashSecretKey(secretKey.reveal()),
  }));

/** Returns why configured pairs cannot be used, by their public keys. */
export const findRefused = (
  db: Queryable,
  pairs: readonly KeyPair[],
): Promise<Map<string, string>> => findRefusedPairs(db, hashed(pairs));

/**
 * Creates the function that renews the pairs of this replica and revokes abandoned pairs. `now` returns milliseconds.
 */
export const createKeyRenewal = (
  db: Queryable,
  publicKeys: readonly string[],
  now: () => number = () => performance.now(),
) => {
  let renewedAt = Number.NEGATIVE_INFINITY;
  let heardSince = 0;
  return async (): Promise<string[]> => {
    await renewKeys(db, publicKeys);
    const time = now();
    if (time - renewedAt > 3 * everyMs) heardSince = time;
    renewedAt = time;
    return time - heardSince < goneMs ? [] : revokeAbandoned(db, publicKeys, goneMs);
  };
};

/** Creates the configured pairs that do not exist yet, then keeps renewing them and revoking abandoned pairs. */
export const openConfiguredKeys = async (
  db: Database,
  pairs: readonly KeyPair[],
  log: Log,
): Promise<Loop<void>> => {
  if (pairs.length > 0) await ensureKeyPairs(db, place, hashed(pairs));
  for (const [publicKey, why] of await findRefused(db, pairs))
    log.error(
      { publicKey, why },
      'a key pair of the configuration cannot be used; create a new one',
    );
  const publicKeys = pairs.map(({ publicKey }) => publicKey);
  const renew = createKeyRenewal(db, publicKeys);
  const tick = async (): Promise<void> => {
    const revoked = await renew();
    if (revoked.length > 0)
      log.warn({ revoked }, 'revoked key pairs that no control plane has any more');
  };
  return startLoop({ name: 'keys', everyMs, tick, log });
};
