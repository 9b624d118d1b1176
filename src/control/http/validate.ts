/**
 * Checks a request against its operation's schemas and says what is wrong with it: one problem a
 * field, in the order of the request's parts. Path, query and headers are text, so numbers and
 * booleans are read from it; a body is taken as it is.
 */
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import Type, { type TSchema } from 'typebox';
import { AppError, type FieldProblem } from '#domain/error.ts';
import type { OperationShape } from '#wire/operation.ts';
import type { RequestParts } from './endpoint.ts';

const mostProblems = 50;

const forText = new Ajv({ strict: true, allErrors: true, coerceTypes: true });
const forBody = new Ajv({ strict: true, allErrors: true });

/** The segments of a JSON pointer. */
const segments = (pointer: string): string[] =>
  pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));

const toProblem = ({ instancePath, keyword, params, message }: ErrorObject): FieldProblem => {
  const path = segments(instancePath);
  if (keyword === 'required') {
    return { path: [...path, params.missingProperty], message: 'is required' };
  }
  if (keyword === 'additionalProperties') {
    return { path: [...path, params.additionalProperty], message: 'is not a known field' };
  }
  if (keyword === 'enum') {
    return { path, message: `must be one of ${params.allowedValues.join(', ')}` };
  }
  return { path, message: message ?? 'is not valid' };
};

/** The branch of a union that an error belongs to, counted from 0; undefined if it is not inside. */
const branchOf = (union: ErrorObject, error: ErrorObject): string | undefined => {
  const prefix = `${union.schemaPath}/`;
  return error.schemaPath.startsWith(prefix)
    ? error.schemaPath.slice(prefix.length).split('/')[0]
    : undefined;
};

const depth = (error: ErrorObject): number => segments(error.instancePath).length;

/**
 * What to say about a union: the errors of the branch that the value was most likely meant for, which
 * is the one it got deepest into. A value of a wrong type altogether gets one sentence.
 */
const unionProblems = (union: ErrorObject, inside: readonly ErrorObject[]): ErrorObject[] => {
  const branches = Map.groupBy(inside, (error) => branchOf(union, error));
  const plausible = [...branches.values()].filter(
    (errors) =>
      !errors.some(
        (error) => error.keyword === 'type' && error.instancePath === union.instancePath,
      ),
  );
  const score = (errors: readonly ErrorObject[]) =>
    Math.max(...errors.map(depth)) - errors.length / 100;
  const [best] = plausible.sort((a, b) => score(b) - score(a));
  return best ?? [{ ...union, message: 'has none of the forms that it may have' }];
};

/** Replaces the errors of each union and of its branches, outermost first. */
const withoutUnions = (errors: readonly ErrorObject[]): ErrorObject[] => {
  const [union] = errors
    .filter(({ keyword }) => keyword === 'anyOf')
    .sort((a, b) => a.schemaPath.length - b.schemaPath.length);
  if (union === undefined) return [...errors];
  const isInside = (error: ErrorObject) =>
    branchOf(union, error) !== undefined && error.instancePath.startsWith(union.instancePath);
  const inside = errors.filter(isInside);
  const others = errors.filter((error) => error !== union && !isInside(error));
  return withoutUnions([...others, ...unionProblems(union, inside).map(settle(union))]);
};

/** A union that has been spoken for is no union to look at again. */
const settle =
  (union: ErrorObject) =>
  (error: ErrorObject): ErrorObject =>
    error.schemaPath === union.schemaPath ? { ...error, keyword: 'union' } : error;

type Check = (value: unknown) => FieldProblem[];

const checkWith =
  (validate: ValidateFunction): Check =>
  (value) =>
    validate(value) ? [] : withoutUnions(validate.errors ?? []).map(toProblem);

const checkBody = (schema: TSchema): Check => {
  const check = checkWith(forBody.compile(schema));
  return (body) => {
    if (body === undefined && Type.IsOptional(schema)) return [];
    if (body === undefined) return [{ path: [], message: 'a JSON body is required' }];
    return check(body);
  };
};

const none: Check = () => [];
const checkText = (schema: TSchema | undefined): Check =>
  schema === undefined ? none : checkWith(forText.compile(schema));

/** Compiles the check of one operation. It throws `invalid` with every problem there is. */
export const createValidator = (shape: OperationShape): ((parts: RequestParts) => void) => {
  const params = checkText(shape.params);
  const query = checkText(shape.query);
  const headers = checkText(shape.headers);
  const body = shape.body === undefined ? none : checkBody(shape.body);
  return (parts) => {
    const problems = [
      ...params(parts.params),
      ...query(parts.query),
      ...headers(parts.headers),
      ...body(parts.body),
    ];
    if (problems.length === 0) return;
    const [first] = problems;
    const place = first?.path.join('.') ?? '';
    throw new AppError(
      'invalid',
      `invalid request: ${place} ${first?.message}`.replace('  ', ' '),
      {
        fields: problems.slice(0, mostProblems),
      },
    );
  };
};
