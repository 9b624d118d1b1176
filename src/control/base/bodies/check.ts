/**
 * The verdict on a value by a schema of a contract, and what to say when it is wrong. The verdict stops
 * at the first thing that is wrong; only then, and only for as many problems as are told, a second look
 * follows (`explain.ts`).
 */
import { Ajv, type ValidateFunction } from 'ajv';
import type { FieldProblem } from '#domain/error.ts';
import { type TSchema, Type } from '#wire/type.ts';
import { explain } from './explain.ts';

/** What is wrong with a value; nothing when it is valid. */
export type Check = (value: unknown) => FieldProblem[];

const forText = new Ajv({ strict: true, coerceTypes: true });
const forBody = new Ajv({ strict: true });

/** Compiled when it is first asked for: most operations are not, and all together take a third of a start. */
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

/** The check of a body. */
export const checkOfBody = (schema: TSchema): Check => {
  const check = checkWith(forBody, schema);
  return (body) => {
    if (body === undefined && Type.IsOptional(schema)) return [];
    if (body === undefined) return [{ path: [], message: 'a JSON body is required' }];
    return check(body);
  };
};

/** The check of an address's part or of headers: texts, in which numbers and booleans are read. */
export const checkOfText = (schema: TSchema): Check => checkWith(forText, schema);
