/**
 * Checks a request against its operation's schemas and says what is wrong with it: one problem a
 * field, in the order of the request's parts. Path, query and headers are text, so numbers and
 * booleans are read from it. The body was checked where it was read, see `bodies/read.ts`.
 */
import { AppError, type FieldProblem } from '#domain/error.ts';
import type { OperationShape } from '#wire/operation.ts';
import type { TSchema } from '#wire/type.ts';
import { type Check, checkOfText } from '../bodies/check.ts';
import { mostProblems } from '../bodies/explain.ts';
import type { RequestParts } from './endpoint.ts';

const none: Check = () => [];
const checkPart = (schema: TSchema | undefined): Check =>
  schema === undefined ? none : checkOfText(schema);

/** Throws `invalid` for problems, with the first of them in its message. */
const refuse = (problems: readonly FieldProblem[]): void => {
  const [first] = problems;
  if (first === undefined) return;
  const place = first.path.join('.');
  const message = `invalid request: ${place} ${first.message}`.replace('  ', ' ');
  throw new AppError('invalid', message, { fields: problems.slice(0, mostProblems) });
};

/** A request without its body, and what is wrong with that. */
export type Checked = Omit<RequestParts, 'body'>;

/** Compiles the check of one operation. It throws `invalid` with what is wrong. */
export const createValidator = (
  shape: OperationShape,
): ((parts: Checked, ofBody: readonly FieldProblem[]) => void) => {
  const params = checkPart(shape.params);
  const query = checkPart(shape.query);
  const headers = checkPart(shape.headers);
  return (parts, ofBody) =>
    refuse([...params(parts.params), ...query(parts.query), ...headers(parts.headers), ...ofBody]);
};
