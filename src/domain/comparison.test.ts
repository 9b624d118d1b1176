import { describe, expect, it } from 'vitest';
import { compareBuilds, contrast, type PlayedSession, wilsonInterval } from './comparison.ts';

const rounded = (interval: readonly number[] | null) =>
  interval?.map((bound) => Number(bound.toFixed(4)));

describe('the Wilson interval', () => {
  it.each([
    [{ n: 263, passed: 81 }, [0.2553, 0.3662]],
    [{ n: 29, passed: 1 }, [0.0061, 0.1718]],
    [{ n: 10, passed: 0 }, [0, 0.2775]],
    [{ n: 10, passed: 10 }, [0.7225, 1]],
  ])('of %o is %o', (tally, interval) => {
    expect(rounded(wilsonInterval(tally))).toEqual(interval);
  });
});

describe('the interval of a difference', () => {
  // Examples from Newcombe's table II, method 10; the difference here is the second rate minus the first.
  it.each([
    [{ n: 70, passed: 56 }, { n: 80, passed: 48 }, 0.2, [0.0524, 0.3339]],
    [{ n: 10, passed: 9 }, { n: 10, passed: 3 }, 0.6, [0.1705, 0.809]],
    [{ n: 10, passed: 0 }, { n: 10, passed: 0 }, 0, [-0.2775, 0.2775]],
    [{ n: 10, passed: 10 }, { n: 10, passed: 0 }, 1, [0.6075, 1]],
  ])(
    'of %o and %o has the bounds that Newcombe published',
    (candidate, base, difference, interval) => {
      const found = contrast(base, candidate);
      expect(found.difference).toBeCloseTo(difference, 10);
      expect(rounded(found.interval)).toEqual(interval);
    },
  );

  it('is null if one of the two has no judged session', () => {
    const nothing = { n: 0, passed: 0 };
    expect(contrast(nothing, { n: 4, passed: 2 })).toEqual({
      base: { ...nothing, passRate: null },
      candidate: { n: 4, passed: 2, passRate: 0.5 },
      difference: null,
      interval: null,
    });
  });
});

describe('two builds', () => {
  const played = (
    id: string,
    task: string,
    verdict: 'pass' | 'fail',
    checks: Record<string, string> = {},
    more: Partial<PlayedSession> = {},
  ): PlayedSession => ({
    ...{ id, world: 'notes', task, content: `sha256:${task}`, verdict },
    checks: Object.entries(checks).map(([name, each]) => ({ name, verdict: each })),
    ...more,
  });

  it('are compared by task and check, and in total over the tasks that both builds have played', () => {
    const { tasks, total } = compareBuilds(
      [
        played('a1', 'refund', 'pass', { paid: 'pass', noted: 'unknown' }),
        played('a2', 'refund', 'pass', { paid: 'pass', noted: 'pass' }),
        played('a3', 'alone', 'fail'),
      ],
      [
        played('b1', 'refund', 'pass', { paid: 'pass', noted: 'pass' }),
        played('b2', 'refund', 'fail', { paid: 'fail', noted: 'pass' }),
        played('b3', 'refund', 'fail', { paid: 'fail', noted: 'fail' }),
      ],
    );
    expect(tasks).toMatchObject([
      { task: 'alone', base: { n: 1, passed: 0 }, candidate: { n: 0 }, difference: null },
      {
        ...{ task: 'refund', contentDiffers: false },
        ...{ base: { n: 2, passed: 2, passRate: 1 }, candidate: { n: 3, passed: 1 } },
        checks: [
          { name: 'paid', base: { n: 2, passed: 2 }, candidate: { n: 3, passed: 1 } },
          { name: 'noted', base: { n: 1, passed: 1 }, candidate: { n: 3, passed: 2 } },
        ],
      },
    ]);
    expect(total).toMatchObject({ base: { n: 2 }, candidate: { n: 3 } });
    expect(total.difference).toBeCloseTo(1 / 3 - 1, 10);
  });

  it('have flips, which are pairs of sessions of a task with different verdicts, paired in the order of opening', () => {
    const { flips } = compareBuilds(
      [
        played('a1', 'refund', 'pass', { paid: 'pass', noted: 'pass' }),
        played('a2', 'refund', 'fail', { paid: 'fail', noted: 'pass' }),
        played('a3', 'refund', 'pass'),
      ],
      [
        played('b1', 'refund', 'fail', { paid: 'fail', noted: 'pass' }),
        played('b2', 'refund', 'pass', { paid: 'pass', noted: 'pass' }),
      ],
    );
    expect(flips).toEqual([
      {
        ...{ world: 'notes', task: 'refund', checks: ['paid'] },
        base: { sessionId: 'a1', verdict: 'pass' },
        candidate: { sessionId: 'b1', verdict: 'fail' },
      },
      {
        ...{ world: 'notes', task: 'refund', checks: ['paid'] },
        base: { sessionId: 'a2', verdict: 'fail' },
        candidate: { sessionId: 'b2', verdict: 'pass' },
      },
    ]);
  });

  it('are compared by world, and tasks whose content differs are reported', () => {
    const { tasks } = compareBuilds(
      [played('a1', 'refund', 'pass'), played('a2', 'refund', 'pass', {}, { world: 'crm' })],
      [played('b1', 'refund', 'pass', {}, { content: 'sha256:other' })],
    );
    expect(tasks.map(({ world, contentDiffers }) => [world, contentDiffers])).toEqual([
      ['crm', false],
      ['notes', true],
    ]);
  });
});
