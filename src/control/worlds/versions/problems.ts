/** Converts the problems of a world's files to the formats that answers use. */

import { AppError, type FieldProblem } from '#domain/error.ts';
import { parsePointer } from '#domain/json.ts';
import type { Problem } from '#language/problem.ts';
import type { ProblemsDetail } from '#wire/public-api/worlds/problem.ts';

const toFieldProblem = ({ file, pointer, message, hint }: Problem): FieldProblem => ({
  path: [file, ...parsePointer(pointer)],
  message: hint === undefined ? message : `${message}; ${hint}`,
});

const describeProblem = ({ file, pointer, message }: Problem): string =>
  file === '' ? message : `${file}${pointer}: ${message}`;

/** Describes all problems in one sentence that has their number and the first problem. */
export const describeProblems = (problems: readonly Problem[]): string => {
  const [first] = problems;
  const count = problems.length === 1 ? 'a problem' : `${problems.length} problems`;
  return `the world has ${count}; ${first === undefined ? '' : describeProblem(first)}`;
};

/**
 * Builds the error for a refused world. It contains the problems twice: as problems of files and as problems of fields.
 */
export const refusedWorld = (problems: Problem[]): AppError => {
  const detail: ProblemsDetail = { problems };
  return new AppError('invalid', describeProblems(problems), {
    fields: problems.map(toFieldProblem),
    detail,
  });
};
