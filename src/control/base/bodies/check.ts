/**
 * Validates values by the schemas of the contracts. Validation stops at the first problem. Only for an invalid value
 * does `explain.ts` look again, and only until it has as many problems as the answer reports.
 */
import { Ajv, type ValidateFunction } from 'ajv';
import type { FieldProblem } from '#domain/error.ts';
import { type TSchema, Type } from '#wire/type.ts';
import { explain } from './explain.ts';

/** Returns the problems of a value; an empty list if it is valid. */
export type Check = (value: unknown) => FieldProblem[];

const forText = new Ajv({ strict: true, coerceTypes: true });
const forBody = new Ajv({ strict: true });

/** Compiles at first use: most operations are never called, and compiling all takes a third of the startup time. */
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

/** Returns the check for bodies of this schema. */
export const checkOfBody = (schema: TSchema): Check => {
  const check = checkWith(forBody, schema);
  return (body) => {
    if (body === undefined && Type.IsOptional(schema)) return [];
    if (body === undefined) return [{ path: [], message: 'a JSON body is required' }];
    return check(body);
  };
};

/** Returns the check for parameters, queries and headers: texts, which are coerced to numbers and booleans. */
export const checkOfText = (schema: TSchema): Check => checkWith(forText, schema);
