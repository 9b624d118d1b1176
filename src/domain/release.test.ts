import { describe, expect, it } from 'vitest';
import { type GateRun, judge, type RunProgress, runStateOf } from './release.ts';

const run = (parts: Partial<GateRun> = {}): GateRun => ({
  ...{ id: 'r1', planned: null, isFinished: false, isIdle: false, examples: [] },
  ...{ graded: 0, passed: 0, going: 0, ungraded: 0 },
  ...parts,
});
const rule = { threshold: 0.7, floor: 30 };

describe('a run', () => {
  const cases: [string, Partial<RunProgress>, string][] = [
    ['is running while a session may still be graded', { graded: 3, going: 1 }, 'RUNNING'],
    ['is complete when all its sessions are graded', { graded: 3 }, 'COMPLETED'],
    ['is incomplete if a session ended without a grade', { graded: 3, ungraded: 1 }, 'INCOMPLETE'],
    ['is running until all planned rollouts are graded', { planned: 4, graded: 3 }, 'RUNNING'],
    ['is complete when all planned rollouts are graded', { planned: 3, graded: 3 }, 'COMPLETED'],
    [
      'is complete although a session failed, if another replaced it',
      { planned: 3, graded: 3, ungraded: 1 },
      'COMPLETED',
    ],
    [
      'is incomplete when all planned rollouts ended, some without a grade',
      { planned: 4, graded: 3, ungraded: 1 },
      'INCOMPLETE',
    ],
    [
      'is running again when one more session is opened',
      { planned: 4, graded: 3, ungraded: 1, going: 1 },
      'RUNNING',
    ],
    [
      'may be declared finished before all planned rollouts are graded',
      { planned: 4, graded: 3, isFinished: true },
      'COMPLETED',
    ],
    [
      'is incomplete if a session is still open when it is declared finished',
      { graded: 3, going: 1, isFinished: true },
      'INCOMPLETE',
    ],
    [
      'is incomplete when no session was opened or ended for the idle time',
      { planned: 4, graded: 3, isIdle: true },
      'INCOMPLETE',
    ],
    [
      'is running past the idle time while a session is open',
      { going: 1, isIdle: true },
      'RUNNING',
    ],
  ];
  it.each(cases)('%s', (_, parts, state) => {
    expect(runStateOf(run(parts))).toBe(state);
  });
});

describe('the gate', () => {
  it('is untested without a run, or while one is running, whatever the results of the others', () => {
    expect(judge([], rule)).toEqual({
      ...{ verdict: 'untested', passRate: null, gradedRollouts: 0 },
      reasons: ['no agent run names this build'],
    });
    const going = run({ id: 'r2', planned: 40, graded: 10, passed: 10, going: 2, ungraded: 1 });
    expect(judge([run({ ungraded: 1 }), going], rule)).toMatchObject({
      ...{ verdict: 'untested', passRate: 1, gradedRollouts: 10 },
      reasons: ['run r2 is still running: 11 of 40 graded, 2 sessions open'],
    });
  });

  it('is blocked by a run that ended without completing, whatever the results of the others', () => {
    const lacking = run({ id: 'r2', ungraded: 1, examples: ['ses-1'] });
    expect(judge([run({ graded: 40, passed: 40 }), lacking], rule)).toMatchObject({
      ...{ verdict: 'blocked', passRate: 1, gradedRollouts: 40 },
      reasons: ['run r2 ended without completing: 1 session without a grade (ses-1)'],
    });
  });

  it('pools the rollouts of all runs, and passes exactly at its threshold and floor', () => {
    const runs = [run({ graded: 20, passed: 20 }), run({ id: 'r2', graded: 10, passed: 1 })];
    expect(judge(runs, rule)).toEqual({
      ...{ verdict: 'pass', passRate: 0.7, gradedRollouts: 30, reasons: [] },
    });
  });

  it('fails, and lists every condition that is not met', () => {
    expect(judge([run({ graded: 29, passed: 20 })], rule).reasons).toEqual([
      'the pass rate 0.69 is below the threshold 0.70',
      '29 graded rollouts, but the gate requires at least 30',
    ]);
    expect(judge([run({ graded: 1_000, passed: 699 })], rule).reasons).toEqual([
      'the pass rate 0.699 is below the threshold 0.700',
    ]);
  });

  it('has the pass rate null if no rollout was graded', () => {
    expect(judge([run({ ungraded: 2 })], rule)).toMatchObject({
      ...{ verdict: 'blocked', passRate: null, gradedRollouts: 0 },
      reasons: [
        'run r1 ended without completing: 2 sessions without a grade',
        'no rollout was graded',
        '0 graded rollouts, but the gate requires at least 30',
      ],
    });
  });
});
