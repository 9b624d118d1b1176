/**
 * Finds key pairs by their public keys. Nobody has shown yet who they are when this is asked, so strangers
 * can ask as often as they like: all that are asked for at once are looked up together, by one query at a
 * time. A key that there is not is remembered, too, for a moment: whoever goes on with one that was revoked
 * costs a query a second. Such keys push none out of those that there are.
 */

import { LRUCache } from 'lru-cache';
import type { Queryable } from '../db/database.ts';
import { findKeys, type KeyRow } from '../db/keys.ts';

/** The key pair; undefined when there is none, or it was revoked. */
export type FindKey = (publicKey: string) => Promise<KeyRow | undefined>;

/** A revoked key works at most so much longer. */
const keyTtlMs = 5_000;
/** A new key that was asked for before it was made works so much later. */
const absentTtlMs = 1_000;
/** Of each kind. */
const mostKeys = 10_000;
/** Looked up by one query. */
const mostTogether = 1_000;

/** What a public key can look like; others are not looked up. */
const keyForm = /^[\x21-\x7e]{1,256}$/;

type Asked = {
  found: Promise<KeyRow | undefined>;
  settle: PromiseWithResolvers<KeyRow | undefined>;
};

/** Makes the finder; a key that it found is known for a moment, so that a request costs no query. */
export const createFindKey = (db: Queryable, now = () => performance.now()): FindKey => {
  const forSome = { max: mostKeys, ttlResolution: 0, perf: { now } };
  const known = new LRUCache<string, KeyRow>({ ...forSome, ttl: keyTtlMs });
  /** Keys that there are not. */
  const absent = new LRUCache<string, true>({ ...forSome, ttl: absentTtlMs });
  /** In the order in which they were asked for. */
  const asked = new Map<string, Asked>();
  let isLooking = false;

  const lookTogether = async (): Promise<void> => {
    const together = [...asked].slice(0, mostTogether);
    for (const [publicKey] of together) asked.delete(publicKey);
    try {
      const rows = await findKeys(
        db,
        together.map(([publicKey]) => publicKey),
      );
      const found = new Map(rows.map((row) => [row.publicKey, row]));
      for (const row of rows) known.set(row.publicKey, row);
      for (const [publicKey, { settle }] of together) {
        const key = found.get(publicKey);
        if (key === undefined) absent.set(publicKey, true);
        settle.resolve(key);
      }
    } catch (error) {
      for (const [, { settle }] of together) settle.reject(error);
    }
  };

  const look = async (): Promise<void> => {
    if (isLooking) return;
    isLooking = true;
    while (asked.size > 0) await lookTogether();
    isLooking = false;
  };

  return async (publicKey) => {
    const found = known.get(publicKey);
    if (found !== undefined) return found;
    if (!keyForm.test(publicKey) || absent.has(publicKey)) return undefined;
    let one = asked.get(publicKey);
    if (one === undefined) {
      const settle = Promise.withResolvers<KeyRow | undefined>();
      one = { found: settle.promise, settle };
      asked.set(publicKey, one);
    }
    void look();
    return one.found;
  };
};
