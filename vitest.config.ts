import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { TimeReporter } from './test/support/run/time-reporter.ts';
import { runFile } from './test/support/run/times.ts';
import { WovenOrder, waiting } from './test/support/run/woven-order.ts';
import { leftOutOf, readTier } from './test/tiers.ts';

/**
 * Pure tests stand beside the code, and so do the host's, which start real Python and Node workers; the
 * others need a database, which `test/support` starts. All of these compute, and run side by side with the
 * patient ones: real programs, containers and pods, which the tests mostly wait for and do not share.
 * Those that put the machine under load, or strike at a whole cluster, are all of the full tier (`test/tiers.ts`). They run
 * after all others, three at a time, as they mostly wait as well; long sweeps of them one after the other.
 *
 * Files of a project that are not isolated come one after the other in a few processes, so that modules are loaded once a
 * process and not once a file: what a module keeps, it keeps for the files that come after.
 */
const pure = [
  'src/**/*.test.ts',
  'orchestrator/**/*.test.ts',
  'test/*.test.ts',
  'test/{repository,contract/language}/**/*.test.ts',
];
const host = ['world-host-image/**/*.test.ts', 'browser-image/**/*.test.ts'];
const database = ['api', 'contract/clients', 'contract/gateway', 'attacks'].map(
  (folder) => `test/${folder}/**/*.test.ts`,
);
const attacksOnHosts = `test/attacks/{${[
  'browsers/egress',
  'hosts/addresses',
  'hosts/grading',
  'hosts/real-hosts',
  'hosts/recycling',
  'user-code/boundary',
  'user-code/docker',
  'user-code/kubernetes',
].join()}}.test.ts`;
const striking = [
  'test/system/{kubernetes/faults,sessions/load,installation/rolling-upgrade}.test.ts',
  'test/contract/drivers/kubernetes-pods.test.ts',
  'test/sweep/{bodies,kills}/**/*.test.ts',
];
const patient = [
  ...['contract', 'system'].map((folder) => `test/${folder}/**/*.test.ts`),
  attacksOnHosts,
];

const setupFiles = ['test/support/run/keep-compiled.ts'];

const fuzzTimes = Number(process.env.FUZZ_TIMES ?? 1);

/**
 * How long a test, and what prepares a file of them, may take at the most. None of them measures time: the bounds only
 * end what hangs, so they are far from what is usual, also where others use the machine.
 */
const bounds = {
  computing: { testTimeout: 60_000 * fuzzTimes },
  serving: { testTimeout: 180_000, hookTimeout: 300_000 },
};

/** Compiled code is kept between the many starts of programs and workers, all of which are given this. */
process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, 'node_modules/.cache/compiled');

/** A run of a tier keeps its report and its times; one of named files, without a tier, keeps nothing. */
const isTierRun = process.env.SVC_TEST_TIER !== undefined;
const tier = readTier(process.env.SVC_TEST_TIER);
const leftOut = ['**/node_modules/**', ...leftOutOf(tier)];

/** Default seed: another one each day, so that many short runs cover as much as a long one. */
const seedOfTheDay = Number(new Date().toISOString().slice(0, 10).replaceAll('-', ''));

/** `FUZZ_TIMES` repeats tests of properties so many times as often, `FUZZ_SEED` starts elsewhere. */
const fuzz = {
  times: fuzzTimes,
  seed: Number(process.env.FUZZ_SEED ?? seedOfTheDay),
};

/**
 * `SWEEP_TIMES` runs so many cases of the fault sweep, a fifth of them on Docker; `SWEEP_SEED` chooses
 * them, `SWEEP_CASE` is the number of the only one, `SWEEP_RUNTIME` the only runtime. `SWEEP_WEBHOOKS` kills the
 * programs that post webhooks so many times; by default a fifth of the sweep. `SWEEP_INGESTION` is the
 * same of the control plane while agents tell what they did, and as often by default; `SWEEP_LEDGERS` strikes as often
 * around the ends of sessions, and `SWEEP_RUNS` while runs go on. `SWEEP_BROWSERS` takes
 * browsers away so many times; by default two fifths of the sweep, and on processes alone in a short sweep.
 */
const sweepTimes = Number(process.env.SWEEP_TIMES ?? 10);
const sweepRuntime = process.env.SWEEP_RUNTIME;
const sweepOn = (runtime: string, share: number): number =>
  sweepRuntime === undefined || sweepRuntime === runtime
    ? Math.ceil(sweepRuntime === runtime ? sweepTimes : sweepTimes * share)
    : 0;
/** What takes some containers a minute is left to long sweeps. */
const browserTimes = Number(process.env.SWEEP_BROWSERS ?? Math.ceil((sweepTimes * 2) / 5));
const browserShares = { process: 0.7, docker: 0.2, kubernetes: 0.1 };
const browsersOn = (runtime: keyof typeof browserShares): number => {
  const only = sweepRuntime ?? (browserTimes < 20 ? 'process' : undefined);
  if (only === undefined) return Math.round(browserTimes * browserShares[runtime]);
  return only === runtime ? browserTimes : 0;
};
const sweep = {
  seed: Number(process.env.SWEEP_SEED ?? seedOfTheDay),
  total: sweepTimes,
  times: { process: sweepOn('process', 0.8), docker: sweepOn('docker', 0.2) },
  webhooks: Number(process.env.SWEEP_WEBHOOKS ?? Math.ceil(sweepTimes / 5)),
  ingestion: Number(process.env.SWEEP_INGESTION ?? Math.ceil(sweepTimes / 5)),
  ledgers: Number(process.env.SWEEP_LEDGERS ?? Math.ceil(sweepTimes / 5)),
  runs: Number(process.env.SWEEP_RUNS ?? Math.ceil(sweepTimes / 5)),
  browsers: {
    process: browsersOn('process'),
    docker: browsersOn('docker'),
    kubernetes: browsersOn('kubernetes'),
  },
  only: process.env.SWEEP_CASE === undefined ? null : Number(process.env.SWEEP_CASE),
};

/** `FUZZ_MINUTES` sends bodies of all kinds for so long, from `FUZZ_SEED`; `FUZZ_REPORT` names a file. */
const fuzzHttp = {
  minutes: Number(process.env.FUZZ_MINUTES ?? 0),
  seed: fuzz.seed,
  report: process.env.FUZZ_REPORT ?? null,
};

/** A long run of what strikes measures time as well, or memory. */
const isLong = Object.keys(process.env).some((name) => /^(SWEEP|FUZZ)_/.test(name));

/** `SCHEMATHESIS_EXAMPLES` sends so many requests of each kind to each operation, from `SCHEMATHESIS_SEED`. */
const schemathesis = {
  examples: Number(process.env.SCHEMATHESIS_EXAMPLES ?? 0),
  seed: Number(process.env.SCHEMATHESIS_SEED ?? 1),
};

export default defineConfig({
  test: {
    reporters: isTierRun ? ['default', 'json', new TimeReporter()] : ['default'],
    outputFile: { json: runFile(tier) },
    // One more than what computes at once: the others wait.
    maxWorkers: Math.max(3, availableParallelism()),
    sequence: { sequencer: WovenOrder },
    // Node imports the files itself, as it does in the programs: it takes half the time, as compiled code is kept.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    projects: [
      {
        test: {
          name: 'pure',
          setupFiles,
          include: pure,
          // Tests of the templates' own worlds, which their hosts run.
          exclude: ['src/templates/**', ...leftOut],
          isolate: false,
          ...bounds.computing,
          provide: { fuzz },
        },
      },
      {
        test: {
          name: 'host',
          setupFiles,
          include: host,
          exclude: leftOut,
          isolate: false,
          ...bounds.computing,
          provide: { fuzz },
        },
      },
      {
        test: {
          name: 'simulation',
          setupFiles,
          include: ['test/sweep/simulation/**/*.test.ts'],
          exclude: leftOut,
          testTimeout: 300_000 * fuzz.times,
          provide: { fuzz: { ...fuzz, seed: Number(process.env.FUZZ_SEED ?? 1) } },
        },
      },
      {
        test: {
          name: 'database',
          setupFiles,
          include: database,
          exclude: [attacksOnHosts, ...leftOut],
          provide: { schemathesis },
          globalSetup: ['test/support/run/global-setup.ts'],
          isolate: false,
          ...bounds.serving,
        },
      },
      {
        test: {
          name: waiting,
          setupFiles,
          include: patient,
          exclude: [...striking, 'test/contract/{clients,gateway,language}/**', ...leftOut],
          globalSetup: ['test/support/run/global-setup.ts'],
          ...bounds.serving,
        },
      },
      {
        test: {
          name: 'real',
          setupFiles,
          include: striking,
          exclude: leftOut,
          provide: { sweep, fuzzHttp },
          globalSetup: ['test/support/run/global-setup.ts'],
          ...(isLong ? { fileParallelism: false } : { maxWorkers: 3, sequence: { groupOrder: 1 } }),
          ...bounds.serving,
        },
      },
    ],
  },
});
