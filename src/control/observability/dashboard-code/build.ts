/** Job of a build process: checks code and bundles it for pages and transforms. */
import type { CodeProblem, DashboardCode } from '#domain/dashboard.ts';
import { type Bundled, bundlePage, bundleTransform } from './bundle.ts';
import { checkCode } from './check.ts';
import { scanCode } from './scan.ts';

export type BuildJob = { kind: 'dashboard_build'; code: DashboardCode };

/** Bundled code; `script` and `transformScript` are null if the dashboard has no code of that kind. */
export type BuiltCode = { script: string | null; transformScript: string | null };
export type BuildOutcome = { ok: true; built: BuiltCode } | { ok: false; problems: CodeProblem[] };

const problemsOf = (bundled: Bundled | null): CodeProblem[] =>
  bundled !== null && 'problems' in bundled ? bundled.problems : [];

const scriptOf = (bundled: Bundled | null): string | null =>
  bundled !== null && 'script' in bundled ? bundled.script : null;

/** Builds code, or returns all its problems. */
export const buildCode = async ({ code }: BuildJob): Promise<BuildOutcome> => {
  const { files, entrypoint, transform } = code;
  const checked = checkCode(code);
  // Code that exceeds a size limit is not parsed.
  const isReadable = !checked.some((problem) => ['size', 'count'].includes(problem.code));
  const read = isReadable ? scanCode(files, transform) : [];
  const found = [...checked, ...read];
  if (found.length > 0) return { ok: false, problems: found };
  const page = entrypoint === null ? null : await bundlePage(files, entrypoint);
  const made = transform === null ? null : await bundleTransform(files, transform);
  const problems = [...problemsOf(page), ...problemsOf(made)];
  if (problems.length > 0) return { ok: false, problems };
  return { ok: true, built: { script: scriptOf(page), transformScript: scriptOf(made) } };
};
