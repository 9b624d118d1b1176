/**
 * Explains why a value does not match a schema, with one problem for each field, up to a maximum. The work depends on
 * the number of problems and not on the size of the value: a list or an object that exceeds its size limit is not
 * inspected. Only the JSON Schema keywords that the contracts in `src/wire/` use are supported.
 */

import { cut } from '#domain/cut.ts';
import type { FieldProblem } from '#domain/error.ts';
import { isObject } from '#domain/json.ts';

/** Maximum number of problems in one answer; more problems would not help the client. */
export const mostProblems = 50;

type Schema = Readonly<Record<string, unknown>>;
type Members = Readonly<Record<string, Schema>>;
type Path = readonly string[];

type Found = FieldProblem & {
  /** True if the problem is that the value has another type than the schema requires. */
  isType: boolean;
};

/** State of the walk through a value: the problems found so far, and the number of problems at which the walk ends. */
type Walk = { found: Found[]; most: number; isText: boolean };

const isFull = ({ found, most }: Walk): boolean => found.length >= most;

/**
 * Maximum length of a name in a path, in characters. It is limited because clients may choose member names of any
 * length.
 */
const mostNameChars = 200;

const add = (walk: Walk, path: Path, message: string, isType = false): void => {
  if (isFull(walk)) return;
  walk.found.push({ path: path.map((name) => cut(name, mostNameChars)), message, isType });
};

const typeChecks: Record<string, (value: unknown) => boolean> = {
  string: (value) => typeof value === 'string',
  number: (value) => Number.isFinite(value),
  integer: (value) => Number.isInteger(value),
  boolean: (value) => typeof value === 'boolean',
  null: (value) => value === null,
  array: Array.isArray,
  object: isObject,
};

const isNumeric = (text: string): boolean => text.trim() !== '' && Number.isFinite(Number(text));

/** Coerces the text of a parameter or a header to the number or boolean that its schema expects. */
const readText = (type: unknown, value: unknown): unknown => {
  if (typeof value !== 'string') return value;
  if ((type === 'number' || type === 'integer') && isNumeric(value)) return Number(value);
  if (type === 'boolean' && (value === 'true' || value === 'false')) return value === 'true';
  return value;
};

const number = (schema: Schema, word: string): number | undefined => {
  const value = schema[word];
  return typeof value === 'number' ? value : undefined;
};

/** Checks a size against the keywords `min<of>` and `max<of>` of a schema. Returns false if the size is too large. */
const checkSize = (
  walk: Walk,
  path: Path,
  schema: Schema,
  size: { of: 'Length' | 'Items' | 'Properties'; is: number; unit: string },
): boolean => {
  const min = number(schema, `min${size.of}`);
  const max = number(schema, `max${size.of}`);
  if (min !== undefined && size.is < min) {
    add(walk, path, `must NOT have fewer than ${min} ${size.unit}`);
  }
  if (max === undefined || size.is <= max) return true;
  add(walk, path, `must NOT have more than ${max} ${size.unit}`);
  return false;
};

/**
 * Returns the length of a text in code points. For a text that is far too long, returns the length in UTF-16 units,
 * which is cheaper to determine.
 */
const lengthOf = (text: string, max: number): number =>
  text.length > 2 * max ? text.length : [...text].length;

const checkString = (walk: Walk, path: Path, schema: Schema, text: string): void => {
  const is = lengthOf(text, number(schema, 'maxLength') ?? Number.MAX_SAFE_INTEGER);
  if (!checkSize(walk, path, schema, { of: 'Length', is, unit: 'characters' })) return;
  const { pattern } = schema;
  if (typeof pattern === 'string' && !new RegExp(pattern, 'u').test(text)) {
    add(walk, path, `must match pattern "${pattern}"`);
  }
};

const checkNumber = (walk: Walk, path: Path, schema: Schema, value: number): void => {
  const least = number(schema, 'minimum');
  const most = number(schema, 'maximum');
  if (least !== undefined && value < least) add(walk, path, `must be >= ${least}`);
  if (most !== undefined && value > most) add(walk, path, `must be <= ${most}`);
};

const checkArray = (walk: Walk, path: Path, schema: Schema, items: readonly unknown[]): void => {
  const size = { of: 'Items', is: items.length, unit: 'items' } as const;
  if (!checkSize(walk, path, schema, size)) return;
  if (schema.uniqueItems === true && new Set(items).size < items.length) {
    add(walk, path, 'must NOT have duplicate items');
  }
  const each = schema.items as Schema | undefined;
  if (each === undefined) return;
  for (let index = 0; index < items.length && !isFull(walk); index += 1) {
    check(walk, [...path, String(index)], each, items[index]);
  }
};

const checkMembers = (
  walk: Walk,
  path: Path,
  schema: Schema,
  value: Record<string, unknown>,
): void => {
  const properties = (schema.properties ?? {}) as Members;
  const [anyMember] = Object.values((schema.patternProperties ?? {}) as Members);
  const isClosed = schema.additionalProperties === false;
  if (isClosed) {
    for (const name in value) {
      if (isFull(walk)) return;
      if (!Object.hasOwn(properties, name)) add(walk, [...path, name], 'is not a known field');
    }
  }
  for (const [name, member] of Object.entries(properties)) {
    if (Object.hasOwn(value, name) && value[name] !== undefined) {
      check(walk, [...path, name], member, value[name]);
    }
  }
  if (anyMember === undefined) return;
  for (const name in value) {
    if (isFull(walk)) return;
    check(walk, [...path, name], anyMember, value[name]);
  }
};

const checkObject = (
  walk: Walk,
  path: Path,
  schema: Schema,
  value: Record<string, unknown>,
): void => {
  if ('maxProperties' in schema || 'minProperties' in schema) {
    const is = Object.keys(value).length;
    if (!checkSize(walk, path, schema, { of: 'Properties', is, unit: 'properties' })) return;
  }
  for (const name of (schema.required ?? []) as string[]) {
    if (value[name] === undefined) add(walk, [...path, name], 'is required');
  }
  checkMembers(walk, path, schema, value);
};

/**
 * Reports the problems of a value that matches no branch of a union. It reports those of the branch that the value most
 * likely means: the branch whose problems lie deepest. A value whose type matches no branch gets a single problem.
 */
const checkUnion = (walk: Walk, path: Path, branches: readonly Schema[], value: unknown): void => {
  const most = walk.most - walk.found.length;
  let best: { found: Found[]; score: number } | undefined;
  for (const branch of branches) {
    const inner: Walk = { ...walk, found: [], most };
    check(inner, path, branch, value);
    const { found } = inner;
    if (found.length === 0) return;
    if (found.some((one) => one.isType && one.path.length === path.length)) continue;
    const score = Math.max(...found.map((one) => one.path.length)) - found.length / 100;
    if (best === undefined || score > best.score) best = { found, score };
  }
  if (best === undefined) add(walk, path, 'matches none of the allowed forms', true);
  else walk.found.push(...best.found);
};

const check = (walk: Walk, path: Path, schema: Schema, given: unknown): void => {
  if (isFull(walk)) return;
  const { type, anyOf } = schema;
  const value = walk.isText ? readText(type, given) : given;
  if (Array.isArray(anyOf)) checkUnion(walk, path, anyOf as Schema[], given);
  else if (typeof type === 'string' && typeChecks[type]?.(value) !== true) {
    add(walk, path, `must be ${type}`, true);
  } else checkValue(walk, path, schema, value);
};

const checkValue = (walk: Walk, path: Path, schema: Schema, value: unknown): void => {
  const { const: only, enum: words } = schema;
  if ('const' in schema && value !== only) add(walk, path, 'must be equal to constant');
  if (Array.isArray(words) && !words.includes(value)) {
    add(walk, path, `must be one of ${words.join(', ')}`);
  }
  if (typeof value === 'string') checkString(walk, path, schema, value);
  else if (typeof value === 'number') checkNumber(walk, path, schema, value);
  else if (Array.isArray(value)) checkArray(walk, path, schema, value);
  else if (isObject(value)) checkObject(walk, path, schema, value);
};

/**
 * Returns the problems of a value, at most `most`; none if the value is valid. `isText` is true for values from
 * addresses or headers, where numbers and booleans are texts.
 */
export const explain = (
  schema: unknown,
  value: unknown,
  { isText = false, most = mostProblems } = {},
): FieldProblem[] => {
  const walk: Walk = { found: [], most, isText };
  check(walk, [], schema as Schema, value);
  return walk.found.map(({ path, message }) => ({ path, message }));
};
