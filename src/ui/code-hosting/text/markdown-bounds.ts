/**
 * Which texts are read as Markdown. The reader's time grows with the square of some texts, and its stack with their
 * depth; people write none of those, so they are shown as they are.
 */

/** As much as the vendor takes. */
const mostCharacters = 65_536;

/** The reader looks from each of these marks on through what follows. */
const mostMarkSteps = 40_000_000;
const mark = /[_*]|^ {0,3}>/gm;

/** Quotes and lists within one another, at the beginning of a line. */
const deep = /^(?:[ \t]*(?:>|[-*+](?=[ \t])|\d{1,9}[.)](?=[ \t]))){31}/m;

export const isReadable = (text: string): boolean => {
  if (text.length > mostCharacters || deep.test(text)) return false;
  const marks = text.match(mark)?.length ?? 0;
  return marks * text.length <= mostMarkSteps;
};
