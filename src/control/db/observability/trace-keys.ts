/** Keys of traces, observations and scores, and the numbers of the weeks by which they are partitioned. */
import { hash } from 'node:crypto';

/**
 * Returns the key of an id within a project, as the hexadecimal text of a UUID: 128 bits of a SHA-256. A key is needed
 * because clients choose the ids: an id may be too long for an index, and is unique only within its project.
 */
export const keyOf = (projectId: string, id: string): string =>
  hash('sha256', `${projectId}\0${id}`, 'hex').slice(0, 32);

/**
 * Formats keys as a PostgreSQL array literal. This is faster than the driver, which would check each key for characters
 * to escape.
 */
export const keyList = (keys: readonly string[]): string => `{${keys.join(',')}}`;

/** Converts a key from the database to the form that `keyOf` returns, without dashes. */
export const dashless = (key: string): string => key.replaceAll('-', '');

const weekMs = 7 * 24 * 3_600_000;

/** Returns the number of whole weeks since 1970. */
export const weekOf = (ms: number): number => Math.floor(ms / weekMs);
