/**
 * Checks a request against its operation's schemas and reports one problem for each field, in the order of the
 * request's parts. Path, query and headers are text, so numbers and booleans are parsed from the text. The body was
 * already checked where it was parsed, see `base/bodies/read.ts`.
 */
import { cut } from '#domain/cut.ts';
import { AppError, type FieldProblem } from '#domain/error.ts';
import { isPublicAccess } from '#wire/access.ts';
import type { OperationShape } from '#wire/operation.ts';
import type { TSchema } from '#wire/type.ts';
import { type Check, checkOfText } from '../../base/bodies/check.ts';
import { mostProblems } from '../../base/bodies/explain.ts';
import type { RequestParts } from './endpoint.ts';

/** Maximum length of the part of an unknown name that an error quotes, in characters. */
const mostShownChars = 100;

const none: Check = () => [];
const checkPart = (schema: TSchema | undefined): Check =>
  schema === undefined ? none : checkOfText(schema);

/** Rejects every query parameter, for operations that have none. */
const noQuery: Check = (query) =>
  Object.keys(query as object).map((name) => ({ path: [name], message: 'is not a known field' }));

const isText = (value: unknown): value is string => typeof value === 'string';

/**
 * Creates the check of a path's arguments. For a client's arguments that cannot name anything, it throws `not_found`,
 * as for ids that do not exist. For a host's, it throws `invalid`, because they are a mistake of this program.
 */
const createPathCheck = ({ access, params }: OperationShape): ((given: unknown) => void) => {
  const check = checkPart(params);
  const isClients = isPublicAccess(access);
  return (given) => {
    const problems = check(given);
    const texts = Object.values((given ?? {}) as object).filter(isText);
    const isNowhere = problems.length > 0 || texts.some((text) => text.includes('\0'));
    if (isClients && isNowhere) {
      const shown = texts.map((text) => JSON.stringify(cut(text, mostShownChars))).join(', ');
      throw new AppError('not_found', `there is nothing by the name ${shown}`);
    }
    throwInvalid(problems);
  };
};

/** Throws `invalid` if there are problems, with the first of them in its message. */
export const throwInvalid = (problems: readonly FieldProblem[], cause?: unknown): void => {
  const [first] = problems;
  if (first === undefined) return;
  const place = first.path.join('.');
  const message = `invalid request: ${place} ${first.message}`.replace('  ', ' ');
  throw new AppError('invalid', message, { cause, fields: problems.slice(0, mostProblems) });
};

/** Request without its body. */
export type Checked = Omit<RequestParts, 'body'>;

export type Validator = {
  /** Checks the arguments of the path alone. */
  path(params: unknown): void;
  /** Checks path, query and headers, so that a request can be refused before a large body is received. */
  head(parts: Checked): void;
  /** Checks the whole request; `ofBody` holds the problems already found in the body. */
  whole(parts: Checked, ofBody: readonly FieldProblem[]): void;
};

/** Compiles the checks of one operation. They throw `invalid` with the problems. */
export const createValidator = (shape: OperationShape): Validator => {
  const { access } = shape;
  const path = createPathCheck(shape);
  const isStrict = isPublicAccess(access) && shape.unknown !== 'ignored';
  const query = shape.query === undefined && isStrict ? noQuery : checkPart(shape.query);
  const headers = checkPart(shape.headers);
  const whole: Validator['whole'] = (parts, ofBody) => {
    path(parts.params);
    throwInvalid([...query(parts.query), ...headers(parts.headers), ...ofBody]);
  };
  return { path, head: (parts) => whole(parts, []), whole };
};
