/** Runs all tests of a world, file by file. */
import type { TreeFile } from '#domain/world.ts';
import { CallFailure } from '../calls/answers/failure.ts';
import type { RunOther } from '../proving/play.ts';
import type { Session } from '../session/session.ts';
import { noPython } from '../usercode/python/python.ts';
import type { UserLanguage } from '../usercode/run.ts';
import { findPytest, howToGetPytest } from './pytest.ts';
import { reportOf, type SuiteReport, type TestResult } from './report.ts';
import { runFile, type TestLimits } from './run-file.ts';
import { openStage } from './stage.ts';

export const defaultTestLimits: TestLimits = {
  testMs: 20_000,
  loadMs: 30_000,
  suiteMs: 300_000,
};

/** Returns the language of a test file; undefined for any other file. */
export const testLanguage = (path: string): UserLanguage | undefined => {
  const name = path.slice(path.lastIndexOf('/') + 1);
  if (/^test_.*\.py$/.test(name)) return 'python';
  return name.endsWith('.test.ts') ? 'typescript' : undefined;
};

const fail = (code: string, message: string): never => {
  throw new CallFailure({ code, message });
};

/**
 * Runs the tests, and restores the session's initial state. `files` are the files of the tree's folder `tests/`; `run`
 * executes the calls `prove` that tests request.
 */
export const runSuite = async (
  session: Session,
  files: readonly TreeFile[],
  limits: TestLimits,
  run: RunOther,
): Promise<SuiteReport> => {
  const { code } = session.world;
  const tests = files.flatMap(({ path }) => {
    const language = testLanguage(path);
    return language === undefined ? [] : [{ path, language }];
  });
  if (tests.length === 0) {
    fail(
      'no_tests',
      'the world has no tests: they are files test_*.py and *.test.ts in its folder tests/',
    );
  }
  await code.assertImports().catch((error: Error) => fail('load_failed', error.message));
  const hasPython = tests.some(({ language }) => language === 'python');
  const { python } = code.bounds;
  if (hasPython && python === undefined) fail('no_python', noPython);
  const libraries = hasPython && python !== undefined ? await findPytest(python) : [];
  if (hasPython && libraries.length === 0) fail('no_pytest', howToGetPytest);
  const stage = openStage(session, run);
  const beganAt = performance.now();
  const results: TestResult[] = [];
  try {
    for (const { path: file, language } of tests) {
      const ran = await runFile({
        file,
        language,
        stage,
        limits,
        endsAt: beganAt + limits.suiteMs,
        openTester: () => code.openTester(files, language, libraries),
      });
      if (ran.lacksRunner) fail('no_pytest', howToGetPytest);
      results.push(...ran.tests);
    }
  } finally {
    await stage.reset();
  }
  return reportOf(results, Math.round(performance.now() - beganAt));
};
