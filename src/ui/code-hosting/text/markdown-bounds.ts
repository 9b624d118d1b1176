/**
 * Decides which texts are parsed as Markdown. For some texts the parser's time grows with the square of their length,
 * and its stack with their nesting. People do not write such texts, so these are shown unparsed.
 */

/** Maximum number of characters of a text that the vendor accepts. */
const mostCharacters = 65_536;

/**
 * Bound for the work of the parser, in characters that it scans: from each character that can begin markup, it may scan
 * the rest of the text.
 */
const mostMarkSteps = 40_000_000;
const mark = /[_*]|^ {0,3}>/gm;

/** Matches a line that begins with quotes and lists nested more than 30 levels deep. */
const deep = /^(?:[ \t]*(?:>|[-*+](?=[ \t])|\d{1,9}[.)](?=[ \t]))){31}/m;

export const isReadable = (text: string): boolean => {
  if (text.length > mostCharacters || deep.test(text)) return false;
  const marks = text.match(mark)?.length ?? 0;
  return marks * text.length <= mostMarkSteps;
};
