/**
 * Detects the layout of a JSON text, and prints new values in the same layout. A value is printed on one line if it
 * fits, unless no value of the original text is on one line.
 */
import type { Node } from 'jsonc-parser';

export type JsonStyle = {
  /** Line break of the text. */
  eol: string;
  /** One level of indentation. */
  unit: string;
  /** Text between a key and its value. */
  colon: string;
  /** True if the whole text is on one line. */
  isOneLine: boolean;
  /** True if non-empty objects and lists are printed on one line where they fit. */
  isInline: boolean;
  /** Padding inside the braces of an object on one line. */
  padding: string;
};

/** Maximum length of a printed line, in columns. */
export const maxColumns = 100;

/** Returns true if some non-empty object or list is on one line. */
const hasInline = (text: string, node: Node): boolean => {
  if (node.type === 'property') return (node.children ?? []).some((part) => hasInline(text, part));
  const parts = node.children ?? [];
  if (parts.length === 0) return false;
  if (!text.slice(node.offset, node.offset + node.length).includes('\n')) return true;
  return parts.some((part) => hasInline(text, part));
};

/** Returns the style of a JSON text. If the text has no line breaks, only its spaces can be detected. */
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

/** Prints the value on one line. */
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

/** Prints the value in a style, on a line indented by `indent`, starting at `column`. */
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
  // The line must leave space for a comma after the value.
  return column + flat.length < maxColumns ? flat : printBroken(value, style, indent);
};
