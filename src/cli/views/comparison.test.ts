import { describe, expect, it } from 'vitest';
import type { BuildComparison } from '#wire/public-api/evaluation/release.ts';
import { createColors } from '../terminal/colors.ts';
import { widthOf } from '../terminal/print.ts';
import { describeComparison } from './comparison.ts';

const colors = createColors(false);
const ref = (version: string | null, hash: string) => ({
  ...{ id: `bld-${hash}`, agentId: 'support', version, buildHash: hash },
  ...{ commitSha: null, branch: null },
});
const rate = (passed: number, n: number) => ({ n, passed, passRate: n === 0 ? null : passed / n });
const worse = {
  ...{ base: rate(18, 20), candidate: rate(11, 20), difference: -0.35 },
  interval: [-0.5646, -0.0718],
};
const same = {
  ...{ base: rate(20, 20), candidate: rate(20, 20), difference: 0 },
  interval: [-0.1611, 0.1611],
};
const alone = { base: rate(0, 0), candidate: rate(3, 4), difference: null, interval: null };
const id = (end: string) => `ses-01kaz4x0pg8q2m5v7n3c1d9e6${end}`;

const comparison: BuildComparison = {
  ...{ base: ref('1.3.0', 'h1'), candidate: ref(null, 'h2'), total: worse, olderLeftOut: false },
  tasks: [
    { world: 'crm', task: 'only-new', contentDiffers: false, ...alone, checks: [] },
    {
      ...{ world: 'helpdesk', task: 'refund-of-an-order-that-was-paid-twice' },
      ...{ contentDiffers: true, ...worse },
      checks: [
        { name: 'the order is \u001b[2Jpaid back', ...worse },
        { name: 'nothing else changed', ...same },
      ],
    },
  ],
  flips: [
    {
      ...{ world: 'helpdesk', task: 'refund' },
      checks: ['the order is paid back in full to the card', 'nothing else was changed by it'],
      base: { sessionId: id('a'), verdict: 'pass' },
      candidate: { sessionId: id('b'), verdict: 'fail' },
    },
  ],
  ...{ flippedToPass: 0, flippedToFail: 1 },
};

describe('a comparison of builds', () => {
  it('shows rates, n, differences with confidence intervals, and the sessions whose verdicts differ', () => {
    expect(describeComparison(comparison, { colors, columns: Infinity })).toMatchInlineSnapshot(`
      "support 1.3.0 → support h2

      TASK                                             BASE         CANDIDATE    DIFFERENCE  95 % INTERVAL
      crm/only-new                                     -            3/4 75 %     -           -
      helpdesk/refund-of-an-order-that-was-paid-twice  18/20 90 %   11/20 55 %   -35.0       -56.5 to -7.2 *
        the order is \\u001b[2Jpaid back                18/20 90 %   11/20 55 %   -35.0       -56.5 to -7.2 *
        nothing else changed                           20/20 100 %  20/20 100 %  0.0         -16.1 to +16.1
      tasks of both                                    18/20 90 %   11/20 55 %   -35.0       -56.5 to -7.2 *
      differences in percentage points; * if the interval does not contain 0
      the builds played helpdesk/refund-of-an-order-that-was-paid-twice with different contents

      sessions whose verdicts differ: 1 now fail, 0 now pass
      to fail
        helpdesk/refund: the order is paid back in full to the card, nothing else was changed by it
          ses-01kaz4x0pg8q2m5v7n3c1d9e6a → ses-01kaz4x0pg8q2m5v7n3c1d9e6b"
    `);
  });

  it('fits a terminal of 80 columns', () => {
    const text = describeComparison(comparison, { colors, columns: 80 });
    expect(widthOf(text)).toBeLessThanOrEqual(80);
    expect(text).toContain(`    ${id('a')} → ${id('b')}`);
    expect(text).not.toContain('\u001b');
  });

  it('says that nothing was graded', () => {
    const nothing = { ...comparison, tasks: [], flips: [], flippedToFail: 0 };
    expect(describeComparison(nothing, { colors, columns: 80 })).toBe(
      'support 1.3.0 → support h2\nneither build has a session that was graded pass or fail',
    );
  });
});
