/**
 * Escapes texts of authors as literal Markdown. They cannot end a table cell, begin a block, make a link or an image,
 * or be read as HTML.
 */

/** Control characters, line breaks, and characters that reverse the direction of text. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is taken out
const invisible = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]+/g;

const entities: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '|': '&#124;',
};

/** Returns a text on one line, cut to `most` characters. */
const toLine = (text: string, most: number): string => {
  const line = text.replace(invisible, ' ').trim();
  return line.length <= most ? line : `${line.slice(0, most).trimEnd()}…`;
};

/** Escapes a text for use within a line. */
export const escapeText = (text: string, most = 500): string =>
  toLine(text, most)
    .toWellFormed()
    .replace(/[\\`*[\]~]/g, '\\$&')
    .replace(/[&<>|]/g, (character) => entities[character] ?? character);

/** Escapes a text as a paragraph: its first characters do not start a list, heading or quotation. */
export const paragraph = (text: string): string => {
  const escaped = escapeText(text, 2_000);
  const [first = ''] = escaped;
  if (/^[A-Za-z(&\\]?$/.test(first)) return escaped;
  return `&#${first.codePointAt(0)};${escaped.slice(first.length)}`;
};

/** Formats a text as code. A text that cannot be in a code span inside a table cell is written in HTML. */
export const code = (text: string, most = 200): string => {
  const line = toLine(text, most).toWellFormed();
  if (line === '') return '';
  if (/^[^`|\\<>&]+$/.test(line)) return `\`${line}\``;
  const encoded = line.replace(/[^A-Za-z0-9 /]/gu, (character) => `&#${character.codePointAt(0)};`);
  return `<code>${encoded}</code>`;
};

/** Builds a table of cells that are already Markdown; '' if there are no rows. */
export const table = (head: readonly string[], rows: readonly (readonly string[])[]): string => {
  if (rows.length === 0) return '';
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '-')), ...rows.map(line)].join('\n');
};
