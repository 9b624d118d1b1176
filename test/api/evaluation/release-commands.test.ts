/** Tests `svc release` as a script calls it: builds, labels, diffs, agent runs, and the gate with its exit statuses. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { BuildView, GateView } from '#wire/public-api/evaluation/release.ts';
import { runCommandLine } from '../../../src/cli/program.ts';
import { createDesk, type Desk } from '../../support/cli/commands-on-control.ts';
import { testContext } from '../../support/cli/context.ts';
import type { TestControl } from '../../support/control/control.ts';
import { shareNotesControl } from '../../support/control/shared-control.ts';

let control: TestControl;
let desk: Desk;

beforeAll(async () => {
  control = await shareNotesControl();
  desk = createDesk(control);
});
afterAll(async () => {
  desk.clear();
});

const run = async (words: string, expected = 0): Promise<string> => {
  const { status, out, err } = await desk.svc(words);
  expect({ words, status, err }).toMatchObject({ words, status: expected });
  return out;
};
const json = async <Body>(words: string, expected = 0): Promise<Body> =>
  JSON.parse(await run(`${words} --json`, expected)) as Body;

/** Grades the sessions of an agent run as their host would. */
const grade = (runId: string, verdict: string): Promise<object[]> =>
  control.sql(
    `insert into calls (id, session_id, seq, kind, input, state, output, answered_at)
     select 'call-' || session_id, session_id, 1, 'grade', '{}', 'succeeded', $2::json, now()
       from agent_rollouts where run_id = $1`,
    [runId, JSON.stringify({ verdict })],
  );

describe('svc release', () => {
  it('registers builds, shows a diff, and moves a label', async () => {
    const manifest = (name: string) => ({
      content: Buffer.from(JSON.stringify({ tools: [{ name }] })),
    });
    desk.write('.', [
      { path: 'one.json', ...manifest('read') },
      { path: 'two.json', ...manifest('write') },
    ]);
    const register = (version: string, file: string) =>
      json<BuildView>(
        `release builds register helper --hash h${version} --semver ${version} --manifest @${file} --commit c0ffee${version}0 --branch main`,
      );
    const [one, two] = [await register('1', 'one.json'), await register('2', 'two.json')];
    expect(await run('release builds list --agent helper')).toMatch(
      /AGENT +VERSION +COMMIT[\s\S]*helper +2 +c0ffee20 [\s\S]*helper +1 /,
    );
    expect(await run(`release builds show ${one.id}`)).toMatch(/commit +c0ffee10\nbranch +main/);
    expect(await run('release diff helper 1 h2')).toBe(
      'helper: 1 → 2, breaking\ntools:\n  read: removed, breaking\n  write: added\nprompts: no change\nmodel: no change\n',
    );
    expect(await run(`release labels set ${one.id} stable`)).toBe(
      `"stable" of helper now points to ${one.id}\n`,
    );
    await run(`release labels set ${two.id} stable --source ci --actor ada`);
    const refused = await desk.svc(`release labels set ${one.id} stable`);
    expect([refused.status, refused.err]).toEqual([
      1,
      expect.stringContaining('goes across a breaking change of "read"'),
    ]);
    expect(await run(`release labels set ${one.id} stable --force --reason slow`)).toContain(
      'this is a rollback across a breaking change of read',
    );
    expect(await run('release labels show helper stable')).toContain(one.id);
    expect(await run(`release labels history ${one.id}`)).toMatch(
      /forced rollback[\s\S]*slow\n[\s\S]*move[\s\S]*ada +ci[\s\S]*move/,
    );
  });

  it('opens sessions for a run and exits with the status of the gate: 2, 1, 0', async () => {
    await run('release builds register gated --hash gated --semver 1 --commit abcdef12');
    const gate = 'release gate --agent gated --semver 1';
    expect(await run(gate, 2)).toMatch(/verdict +untested[\s\S]*- no agent run names this build/);
    const open = 'worlds session open notes --no-wait --run nightly --build-hash gated';
    await run(`${open} --model m --planned 2`);
    await run(open);
    expect(await json<GateView>('release gate --commit abcdef1', 2)).toMatchObject({
      evaluatedRuns: [{ runId: 'nightly', state: 'RUNNING', model: 'm' }],
    });
    expect(await run('release runs list')).toMatch(/nightly +gated +notes +RUNNING +m +0 of 2 /);
    await grade('nightly', 'pass');
    const { build } = await json<GateView>(gate, 1);
    expect(await run(`release gate ${build.id} --wait`, 1)).toMatch(
      /verdict +blocked[\s\S]*pass rate +100.0 %, at least 70.0 %[\s\S]*- 2 graded rollouts, but/,
    );
    await run('settings set --gate-floor 2');
    expect(await run(`${gate} --wait 5`)).toMatch(/verdict +pass/);
    expect(await run('release runs show nightly')).toMatch(/state +COMPLETED[\s\S]*done +2 of 2/);
    expect(await run('release runs finish nightly')).toMatch(/finished +\d{4}-/);
  });

  it('waits until no run is in progress or its time is up', async () => {
    await run('release builds register waited --hash waited --semver 1');
    await run('worlds session open notes --no-wait --run waiting --build-hash waited --planned 1');
    const gate = 'release gate --agent waited --semver 1 --wait';
    expect(await run(`${gate} 0`, 2)).toContain('run waiting is still running');
    const waited = desk.svc(`${gate} --json`);
    await grade('waiting', 'fail');
    const { status, out } = await waited;
    expect([status, JSON.parse(out)]).toMatchObject([
      1,
      { gate: { verdict: 'blocked', passRate: 0 } },
    ]);
  });

  it('exits with 1 without credentials and for an unknown build', async () => {
    const context = testContext();
    const words = 'release gate --commit abcdef1 --wait'.split(' ');
    expect(await runCommandLine(words, context)).toBe(1);
    expect(context.written().err).toContain('no credentials');
    for (const given of ['missing', '--commit fffffff', '--agent gated --semver 9']) {
      expect((await desk.svc(`release gate ${given}`)).status).toBe(1);
    }
  });
});
