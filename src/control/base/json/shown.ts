/**
 * Where tokens and keys of the service are hidden in what is shown of calls and ledgers.
 *
 * What a host sends (outputs, errors, entries) is only ever shown: it is looked through once, when it is
 * read, which for a large body is a process of its own, and kept so. What a client sends (inputs, names)
 * its host gets as it was sent: it is kept as it is, and looked through whenever it is shown. Either way
 * nothing is changed but a token of exactly our form.
 */
import { hideCredentials } from '#domain/credentials.ts';

/** A value of a host as JSON text to keep. */
export const writeShown = (value: unknown): string => hideCredentials(JSON.stringify(value));

/** A text to show, or to keep where it is only shown; JSON text stays JSON text. */
export const shownText = <Text extends string | null>(text: Text): Text | string =>
  text === null ? text : hideCredentials(text);
