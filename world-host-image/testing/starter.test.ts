/** Runs the tests of the HTTP starter as `svc worlds test` would; one of the tests proves the task of the starter. */
import { expect, it } from 'vitest';
import { initTree } from '#language/edit/init.ts';
import { createLog } from '#runtime/log.ts';
import { serveWorld } from '#test/support/host/serve-world.ts';
import { runCall } from '../call-kinds/run-call.ts';
import { runSuite } from './suite.ts';

const log = createLog('tests', 'silent');

it('the starter world passes its tests, and its task is proved', async () => {
  const files = initTree({ name: 'Billing', api: true });
  const served = await serveWorld(files);
  try {
    const tests = files.filter(({ path }) => path.startsWith('tests/'));
    const limits = { testMs: 60_000, loadMs: 60_000, suiteMs: 120_000 };
    const report = await runSuite(served.session, tests, limits, (of, call) =>
      runCall(of, call, log),
    );
    expect(report.tests.map(({ name, outcome }) => `${outcome}: ${name}`)).toEqual([
      'passed: tests/invoices.test.ts::open invoices are listed page by page',
      'passed: tests/invoices.test.ts::an invoice is created, changed and deleted',
      'passed: tests/invoices.test.ts::an invoice is paid once, and the subscriber hears of it',
      'passed: tests/invoices.test.ts::the tools answer as the routes do',
      'passed: tests/invoices.test.ts::the task is graded as it should be',
    ]);
  } finally {
    await served.stop();
  }
});
