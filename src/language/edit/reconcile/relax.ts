/**
 * Relaxes one schema so that it accepts the values that were compared with it. It makes the smallest change, and the
 * schema never accepts fewer values than before, so that rows that fitted still fit. Keys are the exception: they have
 * one type, see `key-types.ts`.
 */
import { own } from '#domain/json.ts';
import { isInherited } from '../../read/names.ts';
import { isTable } from '../../read/values.ts';
import { type JsonType, scalarType } from '../../schema/analysis.ts';
import type { ChangeLog } from './change-log.ts';
import type { Node, Path } from './documents.ts';
import type { Count, Findings } from './findings.ts';
import { listIn, maxUnlisted } from './observe-keywords.ts';
import {
  createFieldBudget,
  createSeen,
  listKeywords,
  mergeSeen,
  objectKeywords,
  type Seen,
  schemaOf,
  typeKeyword,
  typeOfValue,
} from './seen.ts';

/** A schema with its place, and the findings about the schema. */
export type Subject = { node: Node; file: string; path: Path; found: Findings; log: ChangeLog };

const show = (value: unknown): string => {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 40 ? `${text.slice(0, 40)}…` : text;
};

const times = ({ count, first }: Count, { captured }: Findings): string =>
  `in ${count} of ${captured} captured values, first in ${first.file}`;

const typeWords: Record<JsonType, string> = {
  null: 'null',
  boolean: 'a boolean',
  integer: 'a whole number',
  number: 'a number',
  string: 'a text',
  array: 'a list',
  object: 'an object',
};

const listTypes = (types: Iterable<JsonType>): string =>
  [...types].map((type) => typeWords[type]).join(' or ');

/**
 * Replaces the keywords of a schema in place, because other objects refer to the schema. The order of the entries is
 * kept.
 */
const refill = (node: Node, entries: readonly (readonly [string, unknown])[]): void => {
  for (const keyword of Object.keys(node)) delete node[keyword];
  for (const [keyword, value] of entries) node[keyword] = value;
};

const note = ({ file, path, log }: Subject, keyword: string, reason: string): void =>
  log.note(file, [...path, keyword], reason);

const set = (subject: Subject, keyword: string, value: unknown, reason: string): void => {
  note(subject, keyword, reason);
  subject.node[keyword] = value;
};

const remove = (subject: Subject, keyword: string, reason: string): void => {
  if (!Object.hasOwn(subject.node, keyword)) return;
  note(subject, keyword, reason);
  delete subject.node[keyword];
};

/** Returns true if a keyword is an annotation for readers, which does not affect validation. */
export const isNote = (keyword: string): boolean =>
  ['$comment', 'title', 'description', 'examples'].includes(keyword) || keyword.startsWith('x-');

/** Wraps a schema that rejects null into a choice between the schema and null. */
const allowNull = (subject: Subject): void => {
  const { node, file, path, found, log } = subject;
  if (found.nulls === undefined) return;
  log.note(file, path, `null ${times(found.nulls, found)}`);
  const entries = Object.entries(node);
  const shape = Object.fromEntries(entries.filter(([keyword]) => !isNote(keyword)));
  const notes = entries.filter(([keyword]) => isNote(keyword));
  refill(node, [...notes, ['anyOf', [shape, { type: 'null' }]]]);
};

const widenType = (subject: Subject): void => {
  const { node, found } = subject;
  if (found.widened === undefined || !Object.hasOwn(node, 'type')) return;
  const { seen } = found.widened;
  const declared = (Array.isArray(node.type) ? node.type : [node.type]) as JsonType[];
  const reason = `${listTypes(seen.types.keys())} ${times(found.widened, found)}`;
  set(subject, 'type', typeKeyword([...declared, ...seen.types.keys()]), reason);
  const shape = { ...objectKeywords(seen), ...listKeywords(seen) };
  for (const [keyword, value] of Object.entries(shape)) {
    if (!Object.hasOwn(node, keyword)) set(subject, keyword, value, reason);
  }
};

/** Adds the captured values to an `enum`; turns a `const` into an `enum`. */
const extendList = (subject: Subject): void => {
  const { node, found } = subject;
  if (found.unlisted.size === 0) return;
  const keyword = Array.isArray(node.enum) ? 'enum' : 'const';
  const listed = keyword === 'enum' ? listIn(node.enum) : [node.const];
  const values = [...found.unlisted.values()];
  const types = [...listed, ...values.map(({ value }) => value)].map(typeOfValue);
  if (values.length > maxUnlisted) {
    const reason = `more than ${maxUnlisted} other values were captured, so the list cannot be complete`;
    remove(subject, keyword, reason);
    if (!Object.hasOwn(node, 'type')) set(subject, 'type', typeKeyword(types), reason);
    return;
  }
  const reason = values.map((each) => `${show(each.value)} ${times(each, found)}`).join('; ');
  const extended = [...listed, ...values.map(({ value }) => value)];
  if (keyword === 'enum') {
    set(subject, 'enum', extended, reason);
    if (Object.hasOwn(node, 'const')) remove(subject, 'const', reason);
    return;
  }
  note(subject, 'const', reason);
  note(subject, 'enum', reason);
  const entries = Object.entries(node);
  refill(
    node,
    entries.map(([name, value]) => (name === 'const' ? ['enum', extended] : [name, value])),
  );
};

/** Keywords that have to be removed together with a keyword. */
const companions: Readonly<Record<string, readonly string[]>> = {
  if: ['if', 'then', 'else'],
  contains: ['contains', 'minContains', 'maxContains'],
  prefixItems: ['prefixItems', 'items'],
};

const relaxKeyword = (subject: Subject, keyword: string): void => {
  const { node, found } = subject;
  const broken = found.broken.get(keyword);
  if (broken === undefined || keyword === 'oneOf') return;
  const reason = `violated by ${show(broken.value)} ${times(broken, found)}`;
  const isCounter = keyword === 'minimum' && Number(broken.value) >= 0;
  if (isCounter) set(subject, keyword, 0, reason);
  else {
    for (const name of own(companions, keyword) ?? [keyword]) {
      if (Object.hasOwn(node, name)) remove(subject, name, reason);
    }
  }
};

const releaseRequired = (subject: Subject): void => {
  const { node, found } = subject;
  for (const [name, absent] of found.absent) {
    const required = listIn(node.required);
    const rest = required.filter((field) => field !== name);
    const reason = `${show(name)} is absent ${times(absent, found)}`;
    if (rest.length === 0) remove(subject, 'required', reason);
    else set(subject, 'required', rest, reason);
  }
};

const addField = (subject: Subject, name: string, value: unknown, reason: string): void => {
  const { node, file, path, log } = subject;
  if (!isTable(node.properties)) {
    note(subject, 'properties', reason);
    node.properties = {};
  }
  const properties = node.properties as Node;
  log.note(file, [...path, 'properties', name], reason);
  properties[name] = value;
};

const addFields = (subject: Subject): void => {
  const { node, found } = subject;
  const odd: Seen = createSeen(createFieldBudget());
  for (const [name, { captured, others, seen, first }] of found.added) {
    const isAlways = captured === found.captured && others === found.others;
    if (isInherited(name)) {
      mergeSeen(odd, seen);
      continue;
    }
    const lacks = captured === found.captured && !isAlways ? ', though not in all other rows' : '';
    const reason = `in ${captured} of ${found.captured} captured values, first in ${first.file}${lacks}`;
    addField(subject, name, schemaOf(seen), reason);
    if (!isAlways || listIn(node.required).includes(name)) continue;
    const required = [...listIn(node.required), name];
    set(subject, 'required', required, `${show(name)} is in all captured values`);
  }
  if (odd.types.size === 0) return;
  const reason = 'captured values have fields whose names a schema cannot declare';
  set(subject, 'additionalProperties', schemaOf(odd), reason);
};

/** Adds a branch to a choice, for values that match no branch. */
const addBranch = (subject: Subject): void => {
  const { node, found } = subject;
  if (found.unmatched === undefined) return;
  const { seen } = found.unmatched;
  const reason = `${listTypes(seen.types.keys())} ${times(found.unmatched, found)}`;
  for (const keyword of ['anyOf', 'oneOf']) {
    const branches = own(node, keyword);
    if (Array.isArray(branches)) set(subject, keyword, [...branches, schemaOf(seen)], reason);
  }
};

/** Turns `oneOf` into `anyOf` if some captured values fit several branches. */
const openChoice = (subject: Subject): void => {
  const { node, found } = subject;
  const broken = found.broken.get('oneOf');
  if (broken === undefined) return;
  const reason = `more than one branch fits ${times(broken, found)}`;
  if (Object.hasOwn(node, 'anyOf')) {
    remove(subject, 'oneOf', reason);
    return;
  }
  note(subject, 'oneOf', reason);
  note(subject, 'anyOf', reason);
  const entries = Object.entries(node);
  refill(
    node,
    entries.map(([name, value]) => [name === 'oneOf' ? 'anyOf' : name, value]),
  );
};

const openList = (subject: Subject): void => {
  const { found } = subject;
  if (found.extraItems === undefined) return;
  const reason = `further items ${times(found.extraItems, found)}`;
  set(subject, 'items', schemaOf(found.extraItems.seen), reason);
};

/** Relaxes a schema according to its findings. */
export const relax = (subject: Subject): void => {
  const { found } = subject;
  widenType(subject);
  extendList(subject);
  for (const keyword of found.broken.keys()) relaxKeyword(subject, keyword);
  releaseRequired(subject);
  addFields(subject);
  addBranch(subject);
  openChoice(subject);
  openList(subject);
  allowNull(subject);
};

/** Replaces the type of a key's field. A key has one type, whatever the types of captured values. */
export const replaceKeyType = (subject: Subject, type: 'string' | 'integer'): void => {
  const { node, found } = subject;
  const declared = (Array.isArray(node.type) ? node.type : [node.type]) as JsonType[];
  if (scalarType(new Set(declared)) === type) return;
  const known = found.types.get(type);
  if (known === undefined) return;
  const reason = `a key is ${typeWords[type]} ${times(known, found)}`;
  set(subject, 'type', declared.includes('null') ? [type, 'null'] : type, reason);
};
