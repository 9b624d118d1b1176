/**
 * How a JSON text is laid out, told from the text itself, and new values printed in the same way. A
 * value goes on one line where it fits, unless the text never does that.
 */
import type { Node } from 'jsonc-parser';

export type JsonStyle = {
  /** The line break of the text. */
  eol: string;
  /** One level of indentation. */
  unit: string;
  /** Between a key and its value. */
  colon: string;
  /** Everything on one line. */
  isOneLine: boolean;
  /** Whether objects and lists that hold something may stand on one line, as far as they fit. */
  isInline: boolean;
  /** Inside the braces of an object on one line. */
  padding: string;
};

/** Columns that a printed line keeps to. */
export const maxColumns = 100;

/** Whether an object or list that holds something stands on one line. */
const hasInline = (text: string, node: Node): boolean => {
  if (node.type === 'property') return (node.children ?? []).some((part) => hasInline(text, part));
  const parts = node.children ?? [];
  if (parts.length === 0) return false;
  if (!text.slice(node.offset, node.offset + node.length).includes('\n')) return true;
  return parts.some((part) => hasInline(text, part));
};

/** The style of a JSON text; one without line breaks has none to follow but its spaces. */
export const styleOf = (text: string, root: Node): JsonStyle => {
  const body = text.trim();
  const isOneLine = !body.includes('\n');
  return {
    eol: text.includes('\r\n') ? '\r\n' : '\n',
    unit: /\n([ \t]+)\S/.exec(body)?.[1] ?? '  ',
    colon: isOneLine && !/":\s/.test(body) ? ':' : ': ',
    isOneLine,
    isInline: isOneLine || hasInline(text, root),
    padding: /\{"/.test(body) ? '' : ' ',
  };
};

const isContainer = (value: unknown): value is object =>
  typeof value === 'object' && value !== null;

/** The value on one line. */
const printFlat = (value: unknown, style: JsonStyle): string => {
  if (!isContainer(value)) return JSON.stringify(value);
  const comma = style.isOneLine && style.colon === ':' ? ',' : ', ';
  if (Array.isArray(value)) {
    return `[${value.map((item: unknown) => printFlat(item, style)).join(comma)}]`;
  }
  const members = Object.entries(value).map(
    ([key, item]) => `${JSON.stringify(key)}${style.colon}${printFlat(item, style)}`,
  );
  if (members.length === 0) return '{}';
  return `{${style.padding}${members.join(comma)}${style.padding}}`;
};

const printBroken = (value: object, style: JsonStyle, indent: string): string => {
  const inner = indent + style.unit;
  const isList = Array.isArray(value);
  const members = Object.entries(value).map(([key, item]) => {
    const name = isList ? '' : `${JSON.stringify(key)}: `;
    return `${inner}${name}${printJson(item, style, inner, inner.length + name.length)}`;
  });
  const [open, close] = isList ? '[]' : '{}';
  return `${open}${style.eol}${members.join(`,${style.eol}`)}${style.eol}${indent}${close}`;
};

/** The value in a style, on a line indented by `indent`, beginning at `column`. */
export const printJson = (
  value: unknown,
  style: JsonStyle,
  indent: string,
  column: number,
): string => {
  if (!isContainer(value) || Object.keys(value).length === 0) return printFlat(value, style);
  if (style.isOneLine) return printFlat(value, style);
  if (!style.isInline) return printBroken(value, style, indent);
  const flat = printFlat(value, style);
  // A comma may follow on the same line.
  return column + flat.length < maxColumns ? flat : printBroken(value, style, indent);
};
