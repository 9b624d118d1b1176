import { defineConfig } from 'vitest/config';

/** Pure tests stand beside the code; the others need real parts, which `test/support` starts. */
const pure = ['src/**/*.test.ts', 'orchestrator/**/*.test.ts', 'world-host-image/**/*.test.ts'];
const real = ['api', 'contract', 'cluster', 'e2e'].map((folder) => `test/${folder}/**/*.test.ts`);

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'pure',
          include: [...pure, 'test/*.test.ts'],
          testTimeout: 20_000,
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
