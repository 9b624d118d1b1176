/** Digest of the settings that a container was made from; see `Driver.digestOf`. */
import { createHash } from 'node:crypto';

/** Returns twelve hexadecimal digits for any JSON value, short enough for a label or a command line. */
export const digestOf = (made: unknown): string =>
  createHash('sha256').update(JSON.stringify(made)).digest('hex').slice(0, 12);
