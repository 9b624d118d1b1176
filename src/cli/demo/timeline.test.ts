import { describe, expect, it } from 'vitest';
import { testContext } from '#test/support/cli/context.ts';
import { createTimeline, expectEqual, expectSome, expectThat } from './timeline.ts';

const withoutTimes = (text: string): string => text.replace(/[\d.]+ ms/g, 'T');

describe('timeline', () => {
  it('numbers steps, prints notes below them, and marks whether each passed', async () => {
    const context = testContext();
    const timeline = createTimeline(context);
    timeline.line('title');
    const value = await timeline.step('First', async (step) => {
      step.note('one\ntwo');
      step.aside('three');
      return 7;
    });
    expect(value).toBe(7);
    const failing = timeline.step('Second', async () => {
      throw new Error('broken');
    });
    await expect(failing).rejects.toThrow('broken');
    expect(withoutTimes(context.written().out)).toBe(
      [
        'title',
        '',
        '  1  First',
        '      one',
        '      two',
        '      three',
        '     ✓ T',
        '',
        '  2  Second',
        '     ✗ T',
        '',
      ].join('\n'),
    );
  });
});

describe('expectations', () => {
  it('pass if the value is as expected', () => {
    expectEqual('x', { a: [1] }, { a: [1] });
    expectThat('x', true, 1);
    expect(expectSome('x', 0)).toBe(0);
  });

  it('name the expected and the actual value if they differ', () => {
    expect(() => expectEqual('the state', 'READY', 'CLOSED')).toThrow(
      "the state: expected 'CLOSED', found 'READY'",
    );
    expect(() => expectThat('a label', false, ['x'])).toThrow(
      "a label: not as expected, found [ 'x' ]",
    );
    expect(() => expectSome('a token', undefined)).toThrow('a token: expected a value, found none');
  });
});
