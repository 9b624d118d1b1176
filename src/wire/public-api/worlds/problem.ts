/**
 * Problems of a world's files in answers of the service. The control plane writes them into an error's detail, and
 * clients read them from there.
 */
import { Ajv } from 'ajv';
import type { AppError } from '#domain/error.ts';
import { type Static, Type } from '../../type.ts';

/** A problem of a tree, in the form of the world language. */
export const ProblemView = Type.Object({
  file: Type.String({
    description: 'path in the tree; empty: the problem concerns the request itself',
  }),
  pointer: Type.String({ description: 'JSON pointer into the file, or into the request' }),
  line: Type.Optional(Type.Integer({ minimum: 1 })),
  column: Type.Optional(Type.Integer({ minimum: 1 })),
  code: Type.String(),
  message: Type.String(),
  hint: Type.Optional(Type.String()),
});
export type ProblemView = Static<typeof ProblemView>;

/** Detail of the error that refuses files of a world. */
const ProblemsDetail = Type.Object({ problems: Type.Array(ProblemView) });
export type ProblemsDetail = Static<typeof ProblemsDetail>;

const ajv = new Ajv();
let check: ((value: unknown) => value is ProblemsDetail) | undefined;

/**
 * Returns the problems that an error carries; an empty list if its detail has none, or has something else under that
 * name.
 */
export const problemsOf = ({ detail }: Pick<AppError, 'detail'>): ProblemView[] => {
  check ??= ajv.compile<ProblemsDetail>(ProblemsDetail);
  return check(detail) ? detail.problems : [];
};
