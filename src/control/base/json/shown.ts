/**
 * Hides tokens and keys of the service in calls and ledgers that clients see. Data from a host (outputs, errors,
 * entries) is only ever shown to clients. It is redacted once, when it is read (for a large body in a child process),
 * and stored redacted. Data from a client (inputs, names) must be passed to the host as it was sent. It is stored
 * unchanged, and redacted each time it is shown. In both cases only text with exactly the form of our tokens and keys
 * is replaced.
 */
import { hideCredentials } from '#domain/credentials.ts';

/** Returns a value from a host as redacted JSON text, ready to be stored. */
export const writeShown = (value: unknown): string => hideCredentials(JSON.stringify(value));

/** Returns a text with tokens and keys redacted. JSON text stays valid JSON. */
export const shownText = <Text extends string | null>(text: Text): Text | string =>
  text === null ? text : hideCredentials(text);
