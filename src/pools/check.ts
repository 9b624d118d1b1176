/**
 * Reads a pools file once and reports its mistakes. `svc pools check` uses it, and so does the orchestrator, which then
 * watches the file. The settings that the file is checked against come from the environment.
 */
import { readFile } from 'node:fs/promises';
import { describeError } from '#domain/error.ts';
import { runtimeNames } from '#domain/pool.ts';
import type { Problem } from '#language/problem.ts';
import { type Env, type EnvReader, readEnv } from '#runtime/env.ts';
import {
  describeProblem,
  type PoolsFile,
  type PoolsFileContext,
  readPoolsFile,
} from './pools-file.ts';
import type { SessionLimits } from './settings.ts';

const dayMs = 24 * 3_600_000;

/**
 * Reads the default limits of sessions from `SVC_IDLE_MS`, `SVC_MAX_AGE_MS` and `SVC_PROVISION_MS`. These limits apply
 * if a file sets none.
 */
export const readSessionLimits = (read: EnvReader): SessionLimits => ({
  idleMs: read.integer('SVC_IDLE_MS', { min: 1_000, max: 30 * dayMs, fallback: 1_800_000 }),
  maxAgeMs: read.integer('SVC_MAX_AGE_MS', { min: 1_000, max: 365 * dayMs, fallback: dayMs }),
  provisionMs: read.integer('SVC_PROVISION_MS', { min: 1_000, max: dayMs, fallback: 120_000 }),
});

/**
 * Reads the settings that a file is checked against. If `SVC_RUNTIME` is not set, rules of a particular runtime are not
 * checked.
 */
export const readCheckContext = (env: Env): PoolsFileContext => {
  const read = readEnv(env);
  const hasRuntime = read.optionalText('SVC_RUNTIME') !== undefined;
  const context = {
    runtime: hasRuntime ? read.choice('SVC_RUNTIME', runtimeNames) : undefined,
    sessions: readSessionLimits(read),
  };
  read.finish();
  return context;
};

/** Text of a file, or the problem that prevented reading it. */
export type FileText = { text: string } | { problems: Problem[] };

/** Reads a file's text. A file that cannot be read is reported like any other problem in it. */
export const readText = async (file: string): Promise<FileText> => {
  try {
    return { text: await readFile(file, 'utf8') };
  } catch (error) {
    const message = `the file cannot be read: ${describeError(error)}`;
    return { problems: [{ file, pointer: '', code: 'missing_file', message }] };
  }
};

/** Parses the text of a file; a problem that prevented reading it is passed on. */
export const readAs = (file: string, read: FileText, context: PoolsFileContext): PoolsFile =>
  'text' in read
    ? readPoolsFile(file, read.text, context)
    : { problems: read.problems, warnings: [] };

/** Returns the total of the minimum numbers of warm hosts of a file's pools; 0 for a file with mistakes. */
export const minimumOf = async (file: string, context: PoolsFileContext): Promise<number> => {
  const { settings } = readAs(file, await readText(file), context);
  return (settings?.pools ?? []).reduce((sum, { minimum }) => sum + minimum, 0);
};

/**
 * Lists every mistake and warning of a file, one a line. For a file without mistakes, the last line names its pools.
 */
export const checkPoolsFile = async (
  file: string,
  context: PoolsFileContext,
): Promise<{ isRight: boolean; lines: string[] }> => {
  const { problems, warnings, settings } = readAs(file, await readText(file), context);
  const pools = settings?.pools.map(({ pool }) => pool).join(', ');
  const lines = [
    ...problems.map(describeProblem),
    ...warnings.map((warning) => `${describeProblem(warning)} [warning]`),
    ...(pools === undefined ? [] : [`${file}: good; pools: ${pools}`]),
  ];
  return { isRight: settings !== undefined, lines };
};
