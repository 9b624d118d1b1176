/**
 * Converts the text of a CSV cell to a value of its field. CSV cells have no types, so the field's types decide. A text
 * that fits none of them stays a text; the contract check then refuses it and names the field.
 */
import { losesDigits } from './exact-number.ts';
import { readValueText } from './row-text.ts';
import type { Column } from './table-columns.ts';

const whole = /^[-+]?\d+(?:\.0+)?$/;
const decimal = /^[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?$/;

/** Result for an empty cell whose field is left out of the row. */
export const absent = Symbol('absent');

const readEmpty = ({ types, required }: Column): unknown => {
  if (!required) return absent;
  if (types.has('string')) return '';
  return types.has('null') ? null : absent;
};

const readNumber = (text: string, { types }: Column): number | undefined => {
  const pattern = types.has('number') ? decimal : types.has('integer') ? whole : undefined;
  if (pattern?.test(text) !== true || losesDigits(text)) return undefined;
  const value = Number(text);
  return Number.isInteger(value) && !Number.isSafeInteger(value) ? undefined : value;
};

const readJson = (text: string): unknown => {
  const read = readValueText(text);
  return 'value' in read ? read.value : undefined;
};

/** Converts a text by the field's types other than `string`. */
const readTyped = (text: string, column: Column): unknown => {
  const { types } = column;
  const trimmed = text.trim();
  if (types.has('boolean') && /^(?:true|false)$/i.test(trimmed))
    return trimmed.toLowerCase() === 'true';
  const number = readNumber(trimmed, column);
  if (number !== undefined) return number;
  if (types.has('null') && /^null$/i.test(trimmed)) return null;
  const isOpen =
    (types.has('array') && trimmed[0] === '[') || (types.has('object') && trimmed[0] === '{');
  return isOpen ? readJson(trimmed) : undefined;
};

/** Converts one cell; returns `absent` if the field is to be left out of the row. */
export const readCell = (text: string, column: Column): unknown => {
  if (text === '') return readEmpty(column);
  if (column.types.has('string')) return text;
  return (
    readTyped(text, column) ??
    (/^null$/i.test(text.trim()) && column.types.has('null') ? null : text)
  );
};
