/**
 * Type guards for JSON values of unknown shape, and functions for JSON pointers (RFC 6901), which name a place in a
 * JSON document.
 */

/** Returns true if a value is an object, and neither null nor a list. */
export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * Returns an object's own property with this name; undefined for inherited properties, such as `constructor`. Used for
 * names that come from a client, an author or a document.
 */
export const own = <Value>(
  object: { readonly [name: string]: Value },
  name: string,
): Value | undefined => (Object.hasOwn(object, name) ? object[name] : undefined);

/** Returns a text without a leading byte order mark. Windows programs write one; JSON and TOML do not allow it. */
export const withoutByteOrderMark = (text: string): string =>
  text.startsWith('\ufeff') ? text.slice(1) : text;

/** Escapes one segment of a pointer. */
export const escapeSegment = (segment: string | number): string => {
  const text = String(segment);
  return /[~/]/.test(text) ? text.replaceAll('~', '~0').replaceAll('/', '~1') : text;
};

/** Joins segments to a pointer; an empty list gives '', the whole document. */
export const toPointer = (segments: readonly (string | number)[]): string =>
  segments.map((segment) => `/${escapeSegment(segment)}`).join('');

/**
 * Splits a pointer into its segments. A pointer begins with `/`, except '', which is the whole document and has no
 * segments.
 */
export const parsePointer = (pointer: string): string[] =>
  pointer === ''
    ? []
    : pointer
        .slice(1)
        .split('/')
        .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'));
