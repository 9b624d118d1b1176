/**
 * Digest of a store's whole state: the sum, modulo 2^256, of one hash per row. It does not depend on the order of rows
 * or on the changes that led to them. An update costs only the changed rows, so that each answer of a session can
 * include the digest.
 *
 * The digest distinguishes states. It is no defence against an attacker who may choose rows that collide.
 */
import { hash } from 'node:crypto';
import type { Digest } from '#domain/world.ts';

const modulus = 1n << 256n;

/**
 * Returns the hash that one row adds to the sum. Entity names and keys have no line break, so the hashed text is
 * unambiguous.
 */
export const rowHash = (entity: string, key: string, payload: string): bigint =>
  BigInt(`0x${hash('sha256', `${entity}\n${key}\n${payload}`, 'hex')}`);

/** Adds one row's hash to a sum. */
export const addHash = (sum: bigint, row: bigint): bigint => (sum + row) % modulus;

/** Removes one row's hash from a sum. */
export const subtractHash = (sum: bigint, row: bigint): bigint => (sum - row + modulus) % modulus;

/** Returns the digest of a sum. */
export const digestOfSum = (sum: bigint): Digest =>
  `sha256:${hash('sha256', `svc-state/1\n${sum.toString(16)}`, 'hex')}`;
