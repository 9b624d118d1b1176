/**
 * What kinds of fields there are, what a field holds, and what is written to change it. Screens are made of what the
 * tracker says of its fields, so a field of somebody's own is there without a word about it here.
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

/** What has a place of its own on the pages. */
const elsewhere = new Set([
  ...['summary', 'description', 'issuetype', 'project', 'parent', 'issuelinks', 'comment'],
  ...['timetracking', 'resolution', 'environment'],
]);

/** Undefined for what is not edited as a field. */
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

/** What a field holds, as the names that are shown and the values that are chosen. */
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

/** What can be chosen, as the tracker lists it. */
export const optionsOf = ({ allowedValues = [] }: FieldMeta): Item[] => allowedValues.map(toItem);

const wordsIn = (texts: readonly string[]): string[] =>
  texts.flatMap((text) => text.split(/[\s,]+/)).filter((word) => word !== '');

/** The value of a field that is to hold these: ids, accounts, or what was typed. */
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
