/** Checks pushed code before it is parsed: paths, sizes, file types and the entrypoint. Has no side effects. */
import {
  type CodeProblem,
  type CodeProblemCode,
  type DashboardCode,
  endingOf,
  isScript,
  dashboardLimits as most,
  otherEndings,
  scriptEndings,
} from '#domain/dashboard.ts';
import { createPathCheck, showPath } from '#domain/tree-path.ts';

/** Builds a problem of one file; of the code as a whole if `path` is null. */
export const problemOf = (
  path: string | null,
  code: CodeProblemCode,
  message: string,
  place: { line: number; column: number } | null = null,
): CodeProblem => ({
  path,
  line: place?.line ?? null,
  column: place?.column ?? null,
  code,
  message,
});

const endings: readonly string[] = [...scriptEndings, ...otherEndings];

/** Names of files that `svc dashboards pull` writes next to the pushed files. */
const reserved = /^(?:dashboard\.json|transform\.[jt]s)$/i;

const fileProblems = ({ files }: DashboardCode): CodeProblem[] => {
  const faultOf = createPathCheck();
  return files.flatMap(({ path, content }) => {
    const found: CodeProblem[] = [];
    const fault = faultOf(path);
    const shown = fault === undefined ? path : showPath(path);
    if (fault !== undefined) found.push(problemOf(shown, 'path', `the path ${fault}`));
    if (reserved.test(path)) {
      found.push(
        problemOf(
          shown,
          'path',
          'the name is reserved for a file that "svc dashboards pull" writes: choose another name',
        ),
      );
    }
    if (!endings.includes(endingOf(path))) {
      found.push(problemOf(shown, 'type', `must end in one of ${endings.join(', ')}`));
    }
    const bytes = Buffer.byteLength(content);
    if (bytes > most.fileBytes) {
      found.push(
        problemOf(shown, 'size', `has ${bytes} bytes, more than the maximum of ${most.fileBytes}`),
      );
    }
    return found;
  });
};

const wholeProblems = ({ files, transform }: DashboardCode): CodeProblem[] => {
  const found: CodeProblem[] = [];
  if (files.length > most.files) {
    found.push(
      problemOf(null, 'count', `${files.length} files are more than the maximum of ${most.files}`),
    );
  }
  const bytes = files.reduce((sum, { content }) => sum + Buffer.byteLength(content), 0);
  if (bytes > most.codeBytes) {
    found.push(
      problemOf(
        null,
        'size',
        `the files have ${bytes} bytes, more than the maximum of ${most.codeBytes}`,
      ),
    );
  }
  const ofTransform = Buffer.byteLength(transform ?? '');
  if (ofTransform > most.transformBytes) {
    const message = `has ${ofTransform} bytes, more than the maximum of ${most.transformBytes}`;
    found.push(problemOf('transform', 'size', message));
  }
  return found;
};

const entrypointProblems = ({ files, entrypoint }: DashboardCode): CodeProblem[] => {
  if (entrypoint === null) {
    const message = `has no entrypoint: give "entrypoint", or push a file ${usualEntrypoints.join(', ')}`;
    return files.length === 0 ? [] : [problemOf(null, 'entrypoint', message)];
  }
  if (!files.some(({ path }) => path === entrypoint)) {
    return [
      problemOf(showPath(entrypoint), 'entrypoint', 'is the entrypoint, but no file has this path'),
    ];
  }
  if (isScript(entrypoint)) return [];
  const message = `is the entrypoint, so it must end in one of ${scriptEndings.join(', ')}`;
  return [problemOf(entrypoint, 'entrypoint', message)];
};

/** Names of the default entrypoint. */
export const usualEntrypoints = scriptEndings.map((ending) => `dashboard.${ending}`);

/**
 * Returns the entrypoint for code that names none: the first default name among the files. Returns null if there is
 * none.
 */
export const usualEntrypoint = (files: DashboardCode['files']): string | null =>
  usualEntrypoints.find((name) => files.some(({ path }) => path === name)) ?? null;

/** Returns all problems that can be found without parsing. */
export const checkCode = (code: DashboardCode): CodeProblem[] => [
  ...wholeProblems(code),
  ...fileProblems(code),
  ...entrypointProblems(code),
];
