/**
 * Turns a validator's errors into messages that say where a value is, what it is, and what it must be. A failed choice
 * between schemas is one problem, and not one for each branch that did not fit.
 */
import type { ErrorObject } from 'ajv/dist/2020.js';
import { clip } from '#domain/cut.ts';
import { escapeSegment } from '#domain/json.ts';
import { nearestName } from '../read/suggest.ts';

/** A value that violates its schema. `pointer` leads to the value, or to the place where one is missing. */
export type ValueProblem = { pointer: string; detail: string };

const unknownField = 'is not a known field';

/** Returns true if the key at a problem's pointer is at fault, whatever the key's value. */
export const isOfKey = ({ detail }: Pick<ValueProblem, 'detail'>): boolean =>
  detail.startsWith(unknownField);

const maxShown = 60;

/** Returns the beginning of a value as JSON. It writes only as much as a message shows, however large the value is. */
const begin = (value: unknown): string => {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, maxShown + 1));
  if (typeof value !== 'object' || value === null) return String(value);
  let text = '';
  const isList = Array.isArray(value);
  for (const name in value) {
    if (text.length > maxShown) break;
    const member = begin((value as Record<string, unknown>)[name]);
    text += `${text === '' ? '' : ','}${isList ? '' : `${begin(name)}:`}${member}`;
  }
  return isList ? `[${text}]` : `{${text}}`;
};

const show = (value: unknown): string => clip(begin(value), maxShown);

const kindOf = (value: unknown): string => {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'an object';
  return `${typeof value} ${show(value)}`;
};

const describeExtra = (name: string, error: ErrorObject): string => {
  const known = Object.keys((error.parentSchema?.properties ?? {}) as object);
  const nearest = nearestName(name, known);
  return `${unknownField}${nearest === undefined ? '' : `; did you mean "${nearest}"?`}`;
};

const isList = (value: unknown): value is unknown[] => Array.isArray(value);

const describe = (error: ErrorObject): ValueProblem => {
  const { keyword, params, instancePath: pointer, data, message } = error;
  const inside = (name: unknown): string => `${pointer}/${escapeSegment(String(name))}`;
  switch (keyword) {
    case 'required':
      return { pointer: inside(params.missingProperty), detail: 'is missing' };
    case 'dependentRequired':
      return {
        pointer: inside(params.missingProperty),
        detail: `is missing, but required if "${params.property}" is present`,
      };
    case 'additionalProperties':
    case 'unevaluatedProperties': {
      const name = String(params.additionalProperty ?? params.unevaluatedProperty);
      return { pointer: inside(name), detail: describeExtra(name, error) };
    }
    case 'type': {
      const types = isList(params.type) ? params.type.join(' or ') : String(params.type);
      return { pointer, detail: `must be ${types}, is ${kindOf(data)}` };
    }
    case 'enum': {
      const allowed = isList(params.allowedValues) ? params.allowedValues : [];
      return { pointer, detail: `must be one of ${show(allowed)}, is ${show(data)}` };
    }
    case 'const':
      return { pointer, detail: `must be ${show(params.allowedValue)}, is ${show(data)}` };
    case 'format':
      return { pointer, detail: `must be a ${params.format}, is ${show(data)}` };
    case 'pattern':
      return { pointer, detail: `must match the pattern ${params.pattern}, is ${show(data)}` };
    case 'anyOf':
    case 'oneOf': {
      const many = isList(params.passingSchemas);
      const detail = many
        ? 'fits more than one of the alternatives instead of exactly one'
        : 'fits none of the allowed alternatives';
      return { pointer, detail: `${detail}, is ${kindOf(data)}` };
    }
    case 'false schema':
      return { pointer, detail: 'is not allowed here' };
    default:
      return { pointer, detail: message ?? `breaks "${keyword}"` };
  }
};

const isNullBranch = (branch: unknown): boolean =>
  typeof branch === 'object' && branch !== null && 'type' in branch && branch.type === 'null';

/**
 * Returns true for a choice between a schema and null if the value is not null. The schema's own errors are then more
 * informative.
 */
const isNullableShape = ({ schema, data }: ErrorObject): boolean =>
  isList(schema) &&
  schema.length === 2 &&
  schema.filter(isNullBranch).length === 1 &&
  data !== null;

const saysNotNull = ({ keyword, params }: ErrorObject): boolean =>
  keyword === 'type' && params.type === 'null';

/**
 * Removes the errors of a choice's branches. They precede the error of the choice itself, and are at or below its
 * place.
 */
const withoutBranches = (errors: readonly ErrorObject[]): ErrorObject[] => {
  let kept: ErrorObject[] = [];
  for (const error of errors) {
    const place = error.instancePath;
    if (error.keyword === 'anyOf' || error.keyword === 'oneOf') {
      if (isNullableShape(error)) {
        kept = kept.filter((other) => !(saysNotNull(other) && other.instancePath === place));
        continue;
      }
      while (kept.at(-1)?.instancePath.startsWith(place)) kept.pop();
    }
    // `if` and `propertyNames` only repeat that one of their parts failed, whose error is listed, too.
    if (error.keyword !== 'if' && error.keyword !== 'propertyNames') kept.push(error);
  }
  return kept;
};

/** Returns the errors without those of alternatives, at most `most` errors. */
export const mainErrors = (errors: readonly ErrorObject[], most: number): ErrorObject[] =>
  withoutBranches(errors).slice(0, most);

/** Describes the errors in words: each place and message once, and at most `most` problems. */
export const describeErrors = (errors: readonly ErrorObject[], most: number): ValueProblem[] => {
  const problems = new Map<string, ValueProblem>();
  for (const error of withoutBranches(errors)) {
    if (problems.size === most) break;
    const problem = describe(error);
    problems.set(`${problem.pointer}\n${problem.detail}`, problem);
  }
  return [...problems.values()];
};
