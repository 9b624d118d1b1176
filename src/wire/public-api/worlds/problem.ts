/**
 * Problems of a world's files as the service answers them, and how a refusal carries them: the control
 * plane writes them into the error's detail, and a client reads them from there.
 */
import { Ajv } from 'ajv';
import type { AppError } from '#domain/error.ts';
import { type Static, Type } from '../../type.ts';

/** What is wrong with a tree: the language's own problem. */
export const ProblemView = Type.Object({
  file: Type.String({ description: 'path in the tree; empty: the request itself' }),
  pointer: Type.String({ description: 'JSON pointer into the file, or into the request' }),
  line: Type.Optional(Type.Integer({ minimum: 1 })),
  column: Type.Optional(Type.Integer({ minimum: 1 })),
  code: Type.String(),
  message: Type.String(),
  hint: Type.Optional(Type.String()),
});
export type ProblemView = Static<typeof ProblemView>;

/** What the body of an error has beside its message when files of a world are refused. */
const ProblemsDetail = Type.Object({ problems: Type.Array(ProblemView) });
export type ProblemsDetail = Static<typeof ProblemsDetail>;

const ajv = new Ajv();
let check: ((value: unknown) => value is ProblemsDetail) | undefined;

/** The problems that a refusal carries; none where it carries none, or something else under their name. */
export const problemsOf = ({ detail }: Pick<AppError, 'detail'>): ProblemView[] => {
  check ??= ajv.compile<ProblemsDetail>(ProblemsDetail);
  return check(detail) ? detail.problems : [];
};
