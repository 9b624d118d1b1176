/**
 * Builds the outline of a TOML text: the positions of the tables, keys and values that its parser returns. The text
 * must be valid TOML 1.0 or 1.1.
 *
 * The position of a table that a header defines is the header. If only dotted keys, or the headers of its parts, define
 * a table, its position is its name in the first of them.
 *
 * Existing parsers that keep positions were tried, and none stays within limits that are safe for files of clients.
 * toml-eslint-parser 1.0.3 needs 2 GB and 16 s for a list of 2 MB, and overflows the stack at a text of 130,000
 * characters. @decimalturn/toml-patch 3.3.0 keeps no positions of the parts of dotted keys. lezer-toml 1.0.0 reads
 * neither TOML 1.1 nor `[[1], [2]]`. smol-toml keeps no positions.
 */
import { parse } from 'smol-toml';
import type { Span } from './json-text.ts';
import type { Outline } from './positions.ts';

/** A segment of a dotted key: its name, and its position. */
type Segment = { name: string; span: Span };

const blanks = /[ \t]*/y;
const blanksAndLines = /(?:[ \t\r\n]+|#[^\n]*)*/y;
const bareKey = /[^\s"'=.[\]{},#]+/y;
const bareScalar = /[^,\]}#\r\n]*/y;

const endOf = (pattern: RegExp, text: string, from: number): number => {
  pattern.lastIndex = from;
  return pattern.test(text) ? pattern.lastIndex : from;
};

/** Returns the offset after a quoted text, which may have any of TOML's four kinds of quotes. */
const endOfQuoted = (text: string, start: number): number => {
  const quote = text.charAt(start);
  const isLong = text.startsWith(quote.repeat(3), start);
  const mark = isLong ? quote.repeat(3) : quote;
  for (let at = start + mark.length; at < text.length; at += 1) {
    if (quote === '"' && text[at] === '\\') at += 1;
    else if (text.startsWith(mark, at)) {
      let end = at + mark.length;
      // Up to two quotes may precede the closing three.
      while (isLong && end < at + 5 && text[end] === quote) end += 1;
      return end;
    }
  }
  return text.length;
};

const nameOf = (written: string): string => {
  if (written.startsWith("'")) return written.slice(1, -1);
  if (!written.startsWith('"')) return written;
  return written.includes('\\') ? String(parse(`name = ${written}`).name) : written.slice(1, -1);
};

/** Returns the segments of the key at an offset, and the offset after the key and the blanks that follow it. */
const readKey = (text: string, from: number): { segments: Segment[]; end: number } => {
  const segments: Segment[] = [];
  for (let at = endOf(blanks, text, from); ; at = endOf(blanks, text, at + 1)) {
    const isQuoted = text[at] === '"' || text[at] === "'";
    const end = isQuoted ? endOfQuoted(text, at) : endOf(bareKey, text, at);
    segments.push({ name: nameOf(text.slice(at, end)), span: { start: at, end } });
    at = endOf(blanks, text, end);
    if (text[at] !== '.') return { segments, end: at };
  }
};

const newOutline = (value: Span, key?: Span): Outline => ({
  value,
  ...(key === undefined ? {} : { key }),
  parts: new Map(),
});

/** Returns the part of a table that a segment names; creates the part at the segment's position if there is none. */
const partAt = (table: Outline, { name, span }: Segment): Outline => {
  const part = table.parts.get(name) ?? newOutline(span, span);
  table.parts.set(name, part);
  return part;
};

const readPair = (text: string, table: Outline, from: number): number => {
  const { segments, end } = readKey(text, from);
  const inner = segments.slice(0, -1).reduce(partAt, table);
  const last = segments.at(-1);
  const read = readValue(text, endOf(blanks, text, end + 1));
  if (last !== undefined) inner.parts.set(last.name, { ...read, key: last.span });
  return read.value.end;
};

/** Reads the parts between two brackets. `readPart` reads one part and returns the offset after it. */
const readParts = (text: string, start: number, readPart: (at: number) => number): number => {
  let at = endOf(blanksAndLines, text, start + 1);
  while (at < text.length && text[at] !== ']' && text[at] !== '}') {
    at = endOf(blanksAndLines, text, readPart(at));
    if (text[at] === ',') at = endOf(blanksAndLines, text, at + 1);
  }
  return at + 1;
};

const readValue = (text: string, start: number): Outline => {
  const first = text[start];
  const outline = newOutline({ start, end: start });
  const ending = (end: number): Outline => ({ ...outline, value: { start, end } });
  if (first === '"' || first === "'") return ending(endOfQuoted(text, start));
  if (first === '{') return ending(readParts(text, start, (at) => readPair(text, outline, at)));
  if (first === '[') {
    const readItem = (at: number): number => {
      const item = readValue(text, at);
      outline.parts.set(String(outline.parts.size), item);
      return item.value.end;
    };
    return ending(readParts(text, start, readItem));
  }
  const end = endOf(bareScalar, text, start);
  return ending(start + text.slice(start, end).trimEnd().length);
};

/**
 * Reads the header whose bracket is at `start`, and creates its table. Returns the table and the offset after the
 * header.
 */
const readHeader = (
  text: string,
  root: Outline,
  lists: Set<Outline>,
  start: number,
): { table: Outline; end: number } => {
  const isListed = text[start + 1] === '[';
  const brackets = isListed ? 2 : 1;
  const { segments, end: close } = readKey(text, start + brackets);
  const header = { start, end: close + brackets };
  const intoLast = (table: Outline): Outline =>
    (lists.has(table) ? table.parts.get(String(table.parts.size - 1)) : undefined) ?? table;
  const parent = segments
    .slice(0, -1)
    .reduce((table, segment) => intoLast(partAt(table, segment)), root);
  const last = segments.at(-1) ?? { name: '', span: header };
  const isNew = !parent.parts.has(last.name);
  const named = partAt(parent, last);
  if (isNew || !lists.has(named)) Object.assign(named, { value: header, key: last.span });
  if (!isListed) return { table: named, end: header.end };
  lists.add(named);
  const item = newOutline(header);
  named.parts.set(String(named.parts.size), item);
  return { table: item, end: header.end };
};

/** Builds the whole outline of a valid TOML text. */
export const outlineToml = (text: string): Outline => {
  const root = newOutline({ start: 0, end: text.length });
  const lists = new Set<Outline>();
  let table = root;
  for (let at = endOf(blanksAndLines, text, 0); at < text.length; ) {
    if (text[at] === '[') {
      const header = readHeader(text, root, lists, at);
      table = header.table;
      at = header.end;
    } else at = readPair(text, table, at);
    at = endOf(blanksAndLines, text, at);
  }
  return root;
};
