/**
 * Hides tokens and keys of the service in the calls and ledgers that are shown.
 *
 * Data from a host (outputs, errors, entries) is only ever shown. It is redacted once, when it is read (for a large
 * body in a child process), and stored redacted. Data from a client (inputs, names) must reach the host as it was
 * sent. It is stored unchanged and redacted each time it is shown. In both cases only tokens of exactly our form are
 * replaced.
 */
import { hideCredentials } from '#domain/credentials.ts';

/** Returns a value of a host as redacted JSON text to store. */
export const writeShown = (value: unknown): string => hideCredentials(JSON.stringify(value));

/** Returns a text redacted, to show it or to store it for showing; JSON text stays valid JSON. */
export const shownText = <Text extends string | null>(text: Text): Text | string =>
  text === null ? text : hideCredentials(text);
