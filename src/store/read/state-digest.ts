/**
 * The digest of a store's whole state: the sum, modulo 2^256, of one hash per row. It does not depend
 * on the order of rows or on how they came about, and it follows a change at the change's own cost,
 * so that each answer of a session can carry it.
 *
 * It tells states apart; it is no defence against someone who may choose rows to collide on purpose.
 */
import { hash } from 'node:crypto';
import type { Digest } from '#domain/world.ts';

const modulus = 1n << 256n;

/** What one row adds to the sum. Entity names and keys hold no line break, so the text is unambiguous. */
export const rowHash = (entity: string, key: string, payload: string): bigint =>
  BigInt(`0x${hash('sha256', `${entity}\n${key}\n${payload}`, 'hex')}`);

/** A sum with one row's hash put in. */
export const addHash = (sum: bigint, row: bigint): bigint => (sum + row) % modulus;

/** A sum with one row's hash taken out. */
export const subtractHash = (sum: bigint, row: bigint): bigint => (sum - row + modulus) % modulus;

/** The digest that names a sum. */
export const digestOfSum = (sum: bigint): Digest =>
  `sha256:${hash('sha256', `svc-state/1\n${sum.toString(16)}`, 'hex')}`;
