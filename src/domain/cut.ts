/** Texts of strangers, made such that they can be kept: not too long, and of whole characters. */

/** At most so many characters of a text, and no half of a character that takes two. */
export const cut = (text: string, most: number): string => {
  if (text.length <= most) return text;
  const last = text.charCodeAt(most - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? most - 1 : most);
};

/** The text as a column of text can hold it, which has no room for a NUL. */
export const withoutNul = (text: string): string => text.replaceAll('\0', '\ufffd');

/** A text of more than so many characters cut there, with `…` at its end, for messages that quote it. */
export const clip = (text: string, most: number): string =>
  text.length > most ? `${cut(text, most)}…` : text;
