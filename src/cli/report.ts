/**
 * Errors as a person reads them: one line `error: …`, then what belongs to it (fields at fault,
 * problems of a world's files), then a hint, all on standard error. And exit statuses: 0 done,
 * 1 refused or failed, 2 called wrongly.
 */
import { CommanderError } from 'commander';
import { AppError, describeError, type FieldProblem } from '#domain/error.ts';
import type { Problem } from '#language/problem.ts';
import type { Context } from './context.ts';

export const exitStatus = { done: 0, failed: 1, usage: 2 } as const;

/** How the command was called makes no sense, though each word of it does. */
export const usageError = (message: string): CommanderError =>
  new CommanderError(exitStatus.usage, 'svc.usage', message);

/** `tools.py:12:3: unknown key "foo" (at /x) — hint` */
export const formatProblem = (problem: Problem): string => {
  const place = [problem.file, problem.line, problem.column]
    .filter((part) => part !== undefined)
    .join(':');
  const pointer = problem.pointer === '' ? '' : ` (at ${problem.pointer})`;
  const hint = problem.hint === undefined ? '' : `\n    ${problem.hint}`;
  return `${place}: ${problem.message}${pointer}${hint}`;
};

/** The error of a world whose files do not compile. */
export const problemsError = (what: string, problems: readonly Problem[]): AppError =>
  new AppError('invalid', `${what} does not compile`, { detail: { problems } });

/** Problems shown of one file; the first ones usually bring the others about. */
const shownPerFile = 8;

const isRows = (file: string): boolean => /(?:^|\/)(?:data|seed)\//.test(file);

/** Problems file by file, those of rows last: a mistake in the contract makes many rows wrong. */
const formatProblems = (problems: readonly Problem[]): string[] => {
  const byFile = Map.groupBy(problems, ({ file }) => file);
  const files = [...byFile].sort(([a], [b]) => Number(isRows(a)) - Number(isRows(b)));
  return files.flatMap(([file, all]) => {
    const shown = all.slice(0, shownPerFile).map((problem) => `  ${formatProblem(problem)}`);
    const rest = all.length - shown.length;
    return rest === 0 ? shown : [...shown, `  ${file}: and ${rest} more`];
  });
};

const problemsOf = (error: AppError): Problem[] => {
  const { problems } = error.detail;
  return Array.isArray(problems) ? (problems as Problem[]) : [];
};

const hintOf = (error: AppError): string | undefined => {
  const { hint } = error.detail;
  return typeof hint === 'string' ? hint : undefined;
};

/** The lines that tell of an error. */
export const describeFailure = (error: unknown): string[] => {
  if (!(error instanceof AppError)) return [`error: ${describeError(error)}`];
  const problems = problemsOf(error);
  const fields = problems.length > 0 ? [] : error.fields;
  const isNews = ({ message }: FieldProblem): boolean => message !== error.message;
  const hint = hintOf(error);
  return [
    `error: ${describeError(error)}`,
    ...formatProblems(problems),
    ...fields
      .filter(isNews)
      .map(({ path, message }) => `  ${path.join('.') || '(body)'}: ${message}`),
    ...(hint === undefined ? [] : [`hint: ${hint}`]),
  ];
};

/** Writes an error and answers the exit status it stands for. */
export const reportError = (context: Context, error: unknown): number => {
  if (error instanceof CommanderError) {
    if (error.code === 'svc.usage') context.err.write(`error: ${error.message}\n`);
    return error.exitCode === 0 ? exitStatus.done : exitStatus.usage;
  }
  context.err.write(`${describeFailure(error).join('\n')}\n`);
  const own = error instanceof AppError ? error.detail.exitStatus : undefined;
  return typeof own === 'number' ? own : exitStatus.failed;
};
