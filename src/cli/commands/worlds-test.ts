/**
 * `svc worlds test`: runs the tests of a world in the service, which stores the report, or the tests of a folder on
 * this machine. The exit status is 1 if any test did not pass.
 */
import type { Command } from 'commander';
import { AppError } from '#domain/error.ts';
import { compileTree } from '#language/compile/compile.ts';
import type { Client } from '#wire/client.ts';
import type { TestRunDetail } from '#wire/public-api/evaluation/test-run.ts';
import { getTestRun, runTests } from '#wire/public-api/operations.ts';
import { namesFolder, readTree } from '../files/input.ts';
import { testTree } from '../service/test-tree.ts';
import { parseAddress } from '../service/versions.ts';
import type { Context } from '../terminal/context.ts';
import { ProblemsError } from '../views/report.ts';
import { type TestReport, testsText } from '../views/tests.ts';
import {
  addCommand,
  addressWith,
  addWorldVersion,
  clientFor,
  printAnswer,
  type ServiceOptions,
  setVerdict,
  withService,
} from './command.ts';

const waitSeconds = 55;

/** Starts a test run, and returns it once it is finished. */
const runToEnd = async (client: Client, address: string): Promise<TestRunDetail> => {
  const { slug } = parseAddress(address);
  const body = { origin: 'client' as const };
  let run = (await client.send(runTests, { params: { slug: address }, body })).body;
  while (run.state !== 'finished') {
    const params = { slug, runId: run.runId };
    run = (await client.send(getTestRun, { params, query: { wait: waitSeconds } })).body;
  }
  return run;
};

const ofFolder = async (context: Context, folder: string): Promise<TestReport> => {
  const tree = readTree(context, folder);
  const compiled = compileTree(tree);
  if (!compiled.ok) throw new ProblemsError(folder, compiled.problems, tree);
  return testTree(context, tree);
};

export const addWorldsTest = (worlds: Command, context: Context): void => {
  const command = addCommand(worlds, {
    usage: 'test <world>',
    summary: 'run the tests of a world, or of a folder on this machine; exit status 1 if any fails',
    example: 'svc worlds test crm\nsvc worlds test crm@3 --json\nsvc worlds test ./crm',
    decides: true,
  });
  type Options = ServiceOptions & { version?: string };
  withService(addWorldVersion(command)).action(async (given: string, options: Options) => {
    const world = addressWith(given, options.version);
    if (namesFolder(world)) {
      const report = await ofFolder(context, world);
      printAnswer(context, options, report, () => testsText(report, context.colors));
      setVerdict(context, report.passed);
      return;
    }
    const run = await runToEnd(clientFor(context, options), world);
    const report = run.report as TestReport | null;
    if (report === null && options.json !== true) {
      const message = run.error?.message ?? 'the report is no longer stored';
      throw new AppError('invalid', `${run.slug}@${run.number} was not tested: ${message}`);
    }
    printAnswer(context, options, run, () =>
      report === null ? '' : `${testsText(report, context.colors)}\nrun ${run.runId}`,
    );
    setVerdict(context, run.outcome === 'passed');
  });
};
