/** Fault of a row, without the row's place. Its texts are limited in length, because rows are untrusted. */
import { clip } from '#domain/cut.ts';
import type { Row } from '#language/contract.ts';
import { languageLimits } from '#language/limits.ts';
import type { ImportRefusal } from './plan.ts';

export type RowFault = Omit<ImportRefusal, 'chunk' | 'index'>;

const shownKeyChars = 200;

const showKeyValue = (value: unknown): unknown => {
  if (typeof value === 'string') return clip(value, shownKeyChars);
  return typeof value === 'object' ? null : value;
};

/** Returns the key fields that a row has, in the form for a refusal. */
export const showKey = (row: Row, fields: readonly string[]): ImportRefusal['primaryKey'] => {
  const known = fields.filter((field) => Object.hasOwn(row, field));
  if (known.length === 0) return null;
  return Object.fromEntries(known.map((field) => [field, showKeyValue(row[field])]));
};

/** Builds a fault of a row; facts that are not passed are null. */
export const faultOf = (detail: string, known: Partial<RowFault> = {}): RowFault => ({
  entity: known.entity ?? null,
  primaryKey: known.primaryKey ?? null,
  field:
    known.field === undefined || known.field === null
      ? null
      : clip(known.field, languageLimits.quotedChars),
  pointer:
    known.pointer === undefined || known.pointer === null
      ? null
      : clip(known.pointer, languageLimits.quotedChars),
  detail: clip(detail, languageLimits.quotedChars),
});
