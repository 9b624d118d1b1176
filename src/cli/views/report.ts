/**
 * Formats errors for people, on standard error: one line `error: …`, then the details (invalid fields, problems of a
 * world's files with their lines), then a hint. It also defines the exit statuses: 0 success, 1 refusal, failure or
 * wrong usage. Status 2 is used only by commands that distinguish kinds of failure.
 */
import { CommanderError } from 'commander';
import { AppError, describeError, type FieldProblem } from '#domain/error.ts';
import type { TreeFile } from '#domain/world.ts';
import type { Problem } from '#language/problem.ts';
import { type ProblemsDetail, problemsOf } from '#wire/public-api/worlds/problem.ts';
import { createColors } from '../terminal/colors.ts';
import { type Context, wantsColor } from '../terminal/context.ts';
import { formatCount, formatJson } from '../terminal/print.ts';
import { formatProblems, type ProblemDisplay } from './problem.ts';

type ErrorView = Pick<ProblemDisplay, 'colors' | 'columns'>;

export const exitStatus = { done: 0, failed: 1, unknown: 2, agentFailed: 3 } as const;

/** Builds a usage error for words of a command line that are valid separately, but not together. */
export const usageError = (message: string): CommanderError =>
  new CommanderError(exitStatus.failed, 'svc.usage', message);

/**
 * Error of a world whose files do not compile, or have another fault. If the files are given, the lines at fault are
 * shown.
 */
export class ProblemsError extends AppError {
  readonly sources: readonly TreeFile[];

  constructor(
    what: string,
    problems: Problem[],
    sources: readonly TreeFile[] = [],
    fault = 'does not compile',
  ) {
    const detail: ProblemsDetail = { problems };
    super('invalid', `${what} ${fault}: ${formatCount(problems.length, 'problem')}`, { detail });
    this.sources = sources;
  }
}

const sourcesOf = (error: AppError): readonly TreeFile[] =>
  error instanceof ProblemsError ? error.sources : [];

const hintOf = (error: AppError): string | undefined => {
  const { hint } = error.detail;
  return typeof hint === 'string' ? hint : undefined;
};

const plain: ErrorView = { colors: createColors(false), columns: 100 };

/** Returns the lines that describe an error. */
export const describeFailure = (error: unknown, view: ErrorView = plain): string[] => {
  const title = `${view.colors.red('error:')} ${describeError(error)}`;
  if (!(error instanceof AppError)) return [title];
  const problems = problemsOf(error);
  const fields = problems.length > 0 ? [] : error.fields;
  const isNews = ({ message }: FieldProblem): boolean => !error.message.endsWith(message);
  const hint = hintOf(error);
  return [
    title,
    ...formatProblems(problems, { ...view, sources: sourcesOf(error) }),
    ...fields
      .filter(isNews)
      .map(({ path, message }) => `  ${path.join('.') || '(body)'}: ${message}`),
    ...(hint === undefined ? [] : [`hint: ${hint}`]),
  ];
};

/** Returns the rejected rows that an error lists. */
const refusedIn = ({ detail: { refused, refusals } }: AppError): object =>
  typeof refused === 'number' && Array.isArray(refusals) ? { refused, refusals } : {};

/** Formats an error for `--json`, with the details that programs need. */
const errorAsJson = (error: unknown): string => {
  if (!(error instanceof AppError)) {
    return formatJson({ error: { code: 'internal', message: describeError(error) } });
  }
  const hint = hintOf(error);
  const problems = problemsOf(error);
  return formatJson({
    error: {
      code: error.code,
      message: describeError(error),
      ...(hint === undefined ? {} : { hint }),
      ...(error.fields.length === 0 ? {} : { fields: error.fields }),
      ...(problems.length === 0 ? {} : { problems }),
      ...refusedIn(error),
    },
  });
};

const errorAsText = ({ env, err }: Context, error: unknown): string => {
  const colors = createColors(wantsColor(env, err.isTerminal));
  return `${describeFailure(error, { colors, columns: err.columns }).join('\n')}\n`;
};

const statusOf = (error: unknown): number => {
  if (error instanceof CommanderError) {
    return error.exitCode === 0 ? exitStatus.done : exitStatus.failed;
  }
  const own = error instanceof AppError ? error.detail.exitStatus : undefined;
  return typeof own === 'number' ? own : exitStatus.failed;
};

/** Writes an error to standard error; for a command with `--json`, as JSON. Returns the exit status for it. */
export const reportError = (
  context: Context,
  error: unknown,
  { json = false }: { json?: boolean } = {},
): number => {
  const status = statusOf(error);
  // The status is set before anything is written: if the reader has closed the pipe, the write ends the process.
  context.setExitStatus(status);
  if (!(error instanceof CommanderError)) {
    if (json) context.err.writeExactly(errorAsJson(error));
    else context.err.write(errorAsText(context, error));
  } else if (error.code === 'svc.usage') context.err.write(`error: ${error.message}\n`);
  return status;
};
