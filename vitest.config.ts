import { defineConfig } from 'vitest/config';

/**
 * Pure tests stand beside the code, and so do the host's, which start real Python and Node workers; the
 * others need a database or an engine, which `test/support` starts.
 */
const pure = ['src/**/*.test.ts', 'orchestrator/**/*.test.ts', 'test/*.test.ts'];
const host = ['world-host-image/**/*.test.ts'];
const real = ['api', 'contract', 'cluster', 'e2e'].map((folder) => `test/${folder}/**/*.test.ts`);

/** `VITEST_JSON` names a file for the counts that `.ci/run` reads. */
const jsonFile = process.env.VITEST_JSON;

/** `FUZZ_TIMES` repeats tests of properties so many times as often, `FUZZ_SEED` starts elsewhere. */
const fuzz = {
  times: Number(process.env.FUZZ_TIMES ?? 1),
  seed: Number(process.env.FUZZ_SEED ?? 1),
};

export default defineConfig({
  test: {
    reporters: jsonFile === undefined ? ['default'] : ['default', 'json'],
    ...(jsonFile === undefined ? {} : { outputFile: { json: jsonFile } }),
    projects: [
      {
        test: {
          name: 'pure',
          include: pure,
          testTimeout: 20_000 * fuzz.times,
          provide: { fuzz },
        },
      },
      {
        test: {
          name: 'host',
          include: host,
          testTimeout: 20_000 * fuzz.times,
          provide: { fuzz },
        },
      },
      {
        test: {
          name: 'real',
          include: real,
          globalSetup: ['test/support/global-setup.ts'],
          fileParallelism: false,
          testTimeout: 60_000,
          hookTimeout: 120_000,
        },
      },
    ],
  },
});
