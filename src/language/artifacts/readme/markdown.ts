/**
 * Texts of strangers as literal text in Markdown: they cannot end a table cell, begin a block, make a
 * link or an image, or be taken for HTML.
 */

/** Control characters, line breaks, and marks that reverse the direction of what follows. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is taken out
const invisible = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]+/g;

const entities: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '|': '&#124;',
};

/** A text on one line, at most `most` characters of it. */
const toLine = (text: string, most: number): string => {
  const line = text.replace(invisible, ' ').trim();
  return line.length <= most ? line : `${line.slice(0, most).trimEnd()}…`;
};

/** A text as running text within a line. */
export const escapeText = (text: string, most = 500): string =>
  toLine(text, most)
    .toWellFormed()
    .replace(/[\\`*[\]~]/g, '\\$&')
    .replace(/[&<>|]/g, (character) => entities[character] ?? character);

/** A text as a paragraph of its own: its first character begins no list, heading or quotation. */
export const paragraph = (text: string): string => {
  const escaped = escapeText(text, 2_000);
  const [first = ''] = escaped;
  if (/^[A-Za-z(&\\]?$/.test(first)) return escaped;
  return `&#${first.codePointAt(0)};${escaped.slice(first.length)}`;
};

/** A text as code. What a code span cannot hold inside a table is written in HTML. */
export const code = (text: string, most = 200): string => {
  const line = toLine(text, most).toWellFormed();
  if (line === '') return '';
  if (/^[^`|\\<>&]+$/.test(line)) return `\`${line}\``;
  const encoded = line.replace(/[^A-Za-z0-9 /]/gu, (character) => `&#${character.codePointAt(0)};`);
  return `<code>${encoded}</code>`;
};

/** A table; cells are Markdown already. Without rows there is none. */
export const table = (head: readonly string[], rows: readonly (readonly string[])[]): string => {
  if (rows.length === 0) return '';
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '-')), ...rows.map(line)].join('\n');
};
