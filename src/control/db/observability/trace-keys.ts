/** Keys of what agents did, and the week in which it is kept. */
import { hash } from 'node:crypto';

/**
 * The key of an id in a project, as the text of a UUID: 128 bits of a SHA-256. Ids are texts of strangers that may be
 * too long for an index, and are unique in their project alone.
 */
export const keyOf = (projectId: string, id: string): string =>
  hash('sha256', `${projectId}\0${id}`, 'hex').slice(0, 32);

/** Keys as PostgreSQL writes an array of them; the driver would look each through for what has to be escaped. */
export const keyList = (keys: readonly string[]): string => `{${keys.join(',')}}`;

/** A key as `keyOf` writes it, of one that the database wrote. */
export const dashless = (key: string): string => key.replaceAll('-', '');

const weekMs = 7 * 24 * 3_600_000;

/** Weeks since 1970. */
export const weekOf = (ms: number): number => Math.floor(ms / weekMs);
