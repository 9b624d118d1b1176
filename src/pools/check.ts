/**
 * Reads a file of pools once and says what is wrong with it: for `svc pools check`, and for the
 * orchestrator, which then follows the file. What it is checked by comes from the environment.
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

/** The limits of sessions where the file says none: `SVC_IDLE_MS`, `SVC_MAX_AGE_MS`, `SVC_PROVISION_MS`. */
export const readSessionLimits = (read: EnvReader): SessionLimits => ({
  idleMs: read.integer('SVC_IDLE_MS', { min: 1_000, max: 30 * dayMs, fallback: 1_800_000 }),
  maxAgeMs: read.integer('SVC_MAX_AGE_MS', { min: 1_000, max: 365 * dayMs, fallback: dayMs }),
  provisionMs: read.integer('SVC_PROVISION_MS', { min: 1_000, max: dayMs, fallback: 120_000 }),
});

/** What a file is checked by; where `SVC_RUNTIME` is not set, limits of a runtime are not checked. */
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

/** The text of a file, or why there is none. */
export type FileText = { text: string } | { problems: Problem[] };

/** The file's text; a file that cannot be read is a problem like any other in it. */
export const readText = async (file: string): Promise<FileText> => {
  try {
    return { text: await readFile(file, 'utf8') };
  } catch (error) {
    const message = `it cannot be read: ${describeError(error)}`;
    return { problems: [{ file, pointer: '', code: 'missing_file', message }] };
  }
};

/** What a text that was read says. */
export const readAs = (file: string, read: FileText, context: PoolsFileContext): PoolsFile =>
  'text' in read
    ? readPoolsFile(file, read.text, context)
    : { problems: read.problems, warnings: [] };

/** Reads how many hosts the pools of a file keep warm whatever the demand; 0 for a file that is not right. */
export const minimumOf = async (file: string, context: PoolsFileContext): Promise<number> => {
  const { settings } = readAs(file, await readText(file), context);
  return (settings?.pools ?? []).reduce((sum, { minimum }) => sum + minimum, 0);
};

/** Every mistake and warning in a file, a line each; a last line names the pools of a file that is right. */
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
