/**
 * Kinds of fields, their values, and the bodies that change them. Screens are built from the tracker's field metadata,
 * so custom fields work without code of their own.
 */
import type { FieldMeta } from '../api/bodies.ts';

export type Kind =
  | 'choice'
  | 'choices'
  | 'person'
  | 'people'
  | 'labels'
  | 'number'
  | 'date'
  | 'text';

/** Fields that the pages show in other places. */
const elsewhere = new Set([
  ...['summary', 'description', 'issuetype', 'project', 'parent', 'issuelinks', 'comment'],
  ...['timetracking', 'resolution', 'environment'],
]);

/** Returns the kind of a field; undefined if the page offers no input for it. */
export const kindOf = ({ key, schema, allowedValues }: FieldMeta): Kind | undefined => {
  if (elsewhere.has(key)) return undefined;
  const { type, items } = schema;
  if (type === 'user') return 'person';
  if (type === 'number' || type === 'date') return type;
  if (type === 'array') {
    if (items === 'user') return 'people';
    if (allowedValues !== undefined) return 'choices';
    return items === 'string' ? 'labels' : undefined;
  }
  if (allowedValues !== undefined) return 'choice';
  return type === 'string' ? 'text' : undefined;
};

type Held = {
  id?: string;
  accountId?: string;
  name?: string;
  value?: string;
  displayName?: string;
};

/** Value of a field with its display name. */
export type Item = { value: string; name: string };

const toItem = (held: unknown): Item => {
  if (typeof held !== 'object' || held === null) return { value: String(held), name: String(held) };
  const { id, accountId, name, value, displayName } = held as Held;
  const key = accountId ?? id ?? '';
  return { value: key, name: displayName ?? name ?? value ?? key };
};

export const itemsOf = (held: unknown): Item[] => {
  if (held === null || held === undefined || held === '') return [];
  return (Array.isArray(held) ? held : [held]).map(toItem);
};

/** Returns the allowed values of a field, in the tracker's order. */
export const optionsOf = ({ allowedValues = [] }: FieldMeta): Item[] => allowedValues.map(toItem);

const wordsIn = (texts: readonly string[]): string[] =>
  texts.flatMap((text) => text.split(/[\s,]+/)).filter((word) => word !== '');

/** Builds the value of a field from chosen ids or accounts, or from typed texts. */
export const bodyOf = (kind: Kind, chosen: readonly string[]): unknown => {
  const given = chosen.map((text) => text.trim()).filter((text) => text !== '');
  const [first] = given;
  switch (kind) {
    case 'choices':
      return given.map((id) => ({ id }));
    case 'people':
      return given.map((accountId) => ({ accountId }));
    case 'labels':
      return wordsIn(given);
    case 'choice':
      return first === undefined ? null : { id: first };
    case 'person':
      return first === undefined ? null : { accountId: first };
    case 'number':
      return first === undefined ? null : Number(first);
    default:
      return first ?? null;
  }
};
