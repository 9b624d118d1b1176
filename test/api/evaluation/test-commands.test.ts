/** Tests `svc worlds test`: runs the tests of a world through the service, and those of a folder locally. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCommandLine } from '../../../src/cli/program.ts';
import { createDesk, type Desk } from '../../support/cli/commands-on-control.ts';
import { testContext } from '../../support/cli/context.ts';
import { warmHost } from '../../support/control/host.ts';
import { type OwnControl, startNotesControl } from '../../support/control/own-control.ts';
import { changed } from '../../support/control/pushes.ts';
import { notesWorld } from '../../support/worlds/worlds.ts';

let control: OwnControl;
let desk: Desk;

beforeAll(async () => {
  control = await startNotesControl();
  desk = createDesk(control);
});
afterAll(async () => {
  desk.clear();
  await control.stop();
});

const test = { name: 'tests/test_a.py::test_a', durationMs: 3, output: '' };
const failure = { message: 'no', file: 'tests/test_a.py', line: 2, text: 'assert 1 == 2' };

/** Answers the next test run as a host does. */
const answerNext = async (output: unknown): Promise<void> => {
  const host = await warmHost(control);
  await host.poll();
  const { call } = await host.ready();
  const next = call ?? (await host.calls()).call;
  await host.answer(next?.id ?? '', { output });
};

describe('svc worlds test', () => {
  it('shows each test of a world and exits with 0 only if all passed', async () => {
    const passed = desk.svc('worlds test notes');
    const tests = [{ ...test, outcome: 'passed', failure: null }];
    await answerNext({ passed: true, summary: { total: 1, passed: 1 }, tests, leftOut: 0 });
    expect(await passed).toMatchObject({
      status: 0,
      out: expect.stringMatching(
        /✓ tests\/test_a\.py::test_a \(3 ms\)\n1 test: 1 passed\nrun run-/,
      ),
    });
    const failed = desk.svc('worlds test notes@1');
    const wrong = [{ ...test, outcome: 'timed_out', failure }];
    await answerNext({
      passed: false,
      summary: { total: 1, timed_out: 1 },
      tests: wrong,
      leftOut: 0,
    });
    expect(await failed).toMatchObject({
      status: 1,
      out: expect.stringContaining('✗ tests/test_a.py::test_a timed out (3 ms)\n    assert 1 == 2'),
    });
  });

  it('runs the tests of a folder on this machine', async () => {
    const python =
      'from svc_env.testing import world\ndef test_a(): assert world.count("notes") == 5\n';
    desk.write('tested', changed(notesWorld(), { 'tests/test_a.py': python }));
    const env = { PATH: process.env.PATH };
    const context = testContext({ env, cwd: desk.folder });
    await runCommandLine(['worlds', 'test', './tested'], context);
    const { out, err } = context.written();
    expect(context.status(), err).toBe(1);
    expect(out).toContain('✗ tests/test_a.py::test_a failed');
    expect(out).toContain('== 5');
  });
});
