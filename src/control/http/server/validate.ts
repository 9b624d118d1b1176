/**
 * Checks a request against its operation's schemas and says what is wrong with it: one problem a
 * field, in the order of the request's parts. Path, query and headers are text, so numbers and
 * booleans are read from it. The body was checked where it was read, see `base/bodies/read.ts`.
 */
import { cut } from '#domain/cut.ts';
import { AppError, type FieldProblem } from '#domain/error.ts';
import { isPublicAccess } from '#wire/access.ts';
import type { OperationShape } from '#wire/operation.ts';
import type { TSchema } from '#wire/type.ts';
import { type Check, checkOfText } from '../../base/bodies/check.ts';
import { mostProblems } from '../../base/bodies/explain.ts';
import type { RequestParts } from './endpoint.ts';

/** Of a name in an address that leads nowhere. */
const mostShownChars = 100;

const none: Check = () => [];
const checkPart = (schema: TSchema | undefined): Check =>
  schema === undefined ? none : checkOfText(schema);

/** Of an operation that takes no parameters, as of one that takes others. */
const noQuery: Check = (query) =>
  Object.keys(query as object).map((name) => ({ path: [name], message: 'is not a known field' }));

const isText = (value: unknown): value is string => typeof value === 'string';

/**
 * Whether the arguments of a path can be of something that there is. A client's that cannot lead nowhere, as
 * those of what it has not made; a host's are a mistake of ours, and told as such.
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

/** Throws `invalid` for problems, with the first of them in its message; returns where there are none. */
export const throwInvalid = (problems: readonly FieldProblem[], cause?: unknown): void => {
  const [first] = problems;
  if (first === undefined) return;
  const place = first.path.join('.');
  const message = `invalid request: ${place} ${first.message}`.replace('  ', ' ');
  throw new AppError('invalid', message, { cause, fields: problems.slice(0, mostProblems) });
};

/** A request without its body, and what is wrong with that. */
export type Checked = Omit<RequestParts, 'body'>;

export type Validator = {
  /** Looks at the arguments of the path alone. */
  path(params: unknown): void;
  /** And at query and headers: what can be refused before a large body is received. */
  head(parts: Checked): void;
  /** At all there is, with what is wrong with the body. */
  whole(parts: Checked, ofBody: readonly FieldProblem[]): void;
};

/** Compiles the checks of one operation. They throw `invalid` with what is wrong. */
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
