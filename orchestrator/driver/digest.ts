/** The digest by which a container tells what it was made from; see `Driver.digestOf`. */
import { createHash } from 'node:crypto';

/** Twelve hexadecimal digits, short enough for a label or a command line, of any JSON value. */
export const digestOf = (made: unknown): string =>
  createHash('sha256').update(JSON.stringify(made)).digest('hex').slice(0, 12);
