/** JSON values whose shape is not known yet, and pointers (RFC 6901): a text for a place in a JSON document. */

/** Whether a value is an object, and neither null nor a list. */
export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * Returns what an object itself has under a name; undefined for what every object inherits, such as `constructor`.
 * For look-ups by names that a client, an author or a document gives.
 */
export const own = <Value>(
  object: { readonly [name: string]: Value },
  name: string,
): Value | undefined => (Object.hasOwn(object, name) ? object[name] : undefined);

/** Returns a text without the byte order mark that programs of Windows begin files with; JSON and TOML know none. */
export const withoutByteOrderMark = (text: string): string =>
  text.startsWith('\ufeff') ? text.slice(1) : text;

/** One segment in a pointer's spelling. */
export const escapeSegment = (segment: string | number): string => {
  const text = String(segment);
  return /[~/]/.test(text) ? text.replaceAll('~', '~0').replaceAll('/', '~1') : text;
};

/** The pointer of a list of segments; none is '', the whole document. */
export const toPointer = (segments: readonly (string | number)[]): string =>
  segments.map((segment) => `/${escapeSegment(segment)}`).join('');

/** The segments of a pointer that begins with `/`, or of '', the whole document. */
export const parsePointer = (pointer: string): string[] =>
  pointer === ''
    ? []
    : pointer
        .slice(1)
        .split('/')
        .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'));
