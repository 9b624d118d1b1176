/**
 * Removes a table, or an item of a list, from a TOML text, with the comment above it, and leaves the rest unchanged.
 * The result is parsed and compared with the expected document. If the parts of the value are too far apart to be
 * removed together, the text is not changed.
 */
import { parse } from 'smol-toml';
import type { Span } from '../read/json-text.ts';
import type { Outline } from '../read/positions.ts';
import { outlineToml } from '../read/toml-positions.ts';

type Step = string | number;

/** Returns the span of a value in the text: from its key or header to the end of its last part. */
const extentOf = ({ key, value, parts }: Outline): Span => {
  const spans = [value, ...(key === undefined ? [] : [key]), ...[...parts.values()].map(extentOf)];
  return {
    start: Math.min(...spans.map(({ start }) => start)),
    end: Math.max(...spans.map(({ end }) => end)),
  };
};

/** Extends a span to whole lines, including the comment lines directly above it and one blank line after it. */
const linesAround = (text: string, { start, end }: Span): Span => {
  let from = text.lastIndexOf('\n', start - 1) + 1;
  for (;;) {
    const above = text.lastIndexOf('\n', from - 2) + 1;
    if (from === 0 || !/^[ \t]*#/.test(text.slice(above, from))) break;
    from = above;
  }
  const rest = /^[^\n]*(?:\n(?:[ \t]*\r?\n)?|$)/.exec(text.slice(end))?.[0] ?? '';
  return { start: from, end: end + rest.length };
};

/** Returns the span of an item of a list in brackets, including the comma between the item and its neighbour. */
const itemAround = (text: string, items: Outline[], index: number): Span => {
  const [before, item, next] = [items[index - 1], items[index], items[index + 1]];
  if (item === undefined) return { start: 0, end: 0 };
  const { start, end } = item.value;
  if (next !== undefined) return { start, end: next.value.start };
  if (before !== undefined) return { start: before.value.end, end };
  return { start, end: end + (/^\s*,/.exec(text.slice(end))?.[0].length ?? 0) };
};

const without = (value: unknown, [step, ...rest]: readonly Step[]): unknown => {
  if (Array.isArray(value)) {
    const index = Number(step);
    if (rest.length === 0) return value.filter((_, at) => at !== index);
    return value.map((item, at) => (at === index ? without(item, rest) : item));
  }
  const table = { ...(value as Record<string, unknown>) };
  const name = String(step);
  if (rest.length === 0) delete table[name];
  else table[name] = without(table[name], rest);
  return table;
};

/**
 * Serialises the document without empty lists, because a list of tables that loses its last item disappears from the
 * text.
 */
const written = (document: unknown): string =>
  JSON.stringify(
    Object.entries(document as object).filter(
      ([, value]) => !(Array.isArray(value) && value.length === 0),
    ),
  );

/** Returns the text without the value at the path; undefined if the value is missing or cannot be removed. */
export const cutToml = (text: string, path: readonly Step[]): string | undefined => {
  let found: Outline | undefined = outlineToml(text);
  let list: Outline | undefined;
  for (const step of path) {
    list = found;
    found = found?.parts.get(String(step));
  }
  if (found === undefined || list === undefined) return undefined;
  const isItem = typeof path.at(-1) === 'number' && !text.startsWith('[[', found.value.start);
  const { start, end } = isItem
    ? itemAround(text, [...list.parts.values()], Number(path.at(-1)))
    : linesAround(text, extentOf(found));
  const left = text.slice(0, start) + text.slice(end);
  try {
    return written(parse(left)) === written(without(parse(text), path)) ? left : undefined;
  } catch {
    return undefined; // the rest is not valid TOML: the parts cannot be removed
  }
};
