/**
 * Shortens and cleans texts from clients so that they can be stored: of limited length, with whole characters, without
 * NUL.
 */

/** Returns at most `most` UTF-16 code units of a text and never splits a surrogate pair. */
export const cut = (text: string, most: number): string => {
  if (text.length <= most) return text;
  const last = text.charCodeAt(most - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? most - 1 : most);
};

/** Returns the text with each NUL replaced by U+FFFD, because a PostgreSQL text column cannot hold NUL. */
export const withoutNul = (text: string): string => text.replaceAll('\0', '\ufffd');

/**
 * Returns a text of at most `most` characters, with `…` at its end if it was cut. Used in messages that quote a text.
 */
export const clip = (text: string, most: number): string =>
  text.length > most ? `${cut(text, most)}…` : text;
