/**
 * Validates values by the schemas of the contracts. Validation stops at the first problem. Only if the value is invalid
 * does `explain.ts` go through it again, until it has found as many problems as the answer may have.
 */
import { Ajv, type ValidateFunction } from 'ajv';
import type { FieldProblem } from '#domain/error.ts';
import { type TSchema, Type } from '#wire/type.ts';
import { explain } from './explain.ts';

/** Returns the problems of a value; an empty list if the value is valid. */
export type Check = (value: unknown) => FieldProblem[];

const forText = new Ajv({ strict: true, coerceTypes: true });
const forBody = new Ajv({ strict: true });

/**
 * Returns a check that compiles its schema at first use. Most operations are never called, and compiling all schemas
 * would take a third of the startup time.
 */
const checkWith = (ajv: Ajv, schema: TSchema): Check => {
  let isValid: ValidateFunction | undefined;
  const isText = ajv === forText;
  return (value) => {
    isValid ??= ajv.compile(schema);
    if (isValid(value)) return [];
    const problems = explain(schema, value, { isText });
    return problems.length > 0 ? problems : [{ path: [], message: 'is not valid' }];
  };
};

/** Returns the check for bodies with this schema. */
export const checkOfBody = (schema: TSchema): Check => {
  const check = checkWith(forBody, schema);
  return (body) => {
    if (body === undefined && Type.IsOptional(schema)) return [];
    if (body === undefined) return [{ path: [], message: 'a JSON body is required' }];
    return check(body);
  };
};

/**
 * Returns the check for parameters, queries and headers. Their values are texts, which are coerced to numbers and
 * booleans.
 */
export const checkOfText = (schema: TSchema): Check => checkWith(forText, schema);
