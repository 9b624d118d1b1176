import { describe, expect, it } from 'vitest';
import { testContext } from '#test/support/cli/context.ts';
import { createColors } from './colors.ts';
import { wantsColor } from './context.ts';
import {
  cutLine,
  elapsedMs,
  formatAgo,
  formatChanges,
  formatDuration,
  formatFields,
  formatRows,
  formatTable,
} from './print.ts';

describe('print', () => {
  it('aligns cells by their visible width, ignoring colour codes', () => {
    const red = createColors(true).red('failed');
    expect(
      formatTable([
        ['STATE', 'WORLD'],
        [red, 'a'],
        ['ok', 'b'],
      ]),
    ).toBe(`STATE   WORLD\n${red}  a\nok      b`);
  });

  it('keeps a cell on one line, whatever characters it contains', () => {
    expect(
      formatTable([
        ['a\nFORGED\tb', 'x'],
        ['c', 'y\r'],
      ]),
    ).toBe('a\\u000aFORGED\\u0009b  x\nc                     y\\u000d');
  });

  it('counts two columns for a wide character, and cuts texts by columns', () => {
    expect(
      formatTable([
        ['返金', 'x'],
        ['abcd', 'y'],
      ]),
    ).toBe('返金  x\nabcd  y');
    expect(cutLine('返金の注文', 6)).toBe('返金…');
    expect(cutLine('返金の注文', 10)).toBe('返金の注文');
  });

  it('leaves out fields without a value', () => {
    expect(
      formatFields([
        ['a', 1],
        ['long', null],
        ['b', undefined],
        ['cd', 'x'],
      ]),
    ).toBe('a   1\ncd  x');
  });

  it.each([
    [0.42, '0.4 ms'],
    [37.4, '37 ms'],
    [999, '999 ms'],
    [1_234, '1.2 s'],
    [59_940, '59.9 s'],
    [59_960, '1 min 0 s'],
    [185_000, '3 min 5 s'],
    [7_800_000, '2 h 10 min'],
    [356_400_000, '4 d 3 h'],
  ])('writes %d ms as %s', (ms, text) => {
    expect(formatDuration(ms)).toBe(text);
  });

  it.each([
    [0, '0 s ago'],
    [59, '59 s ago'],
    [3_599, '59 min ago'],
    [7_300, '2 h ago'],
    [200_000, '2 d ago'],
    [-5, '0 s ago'],
  ])('formats an age of %d seconds', (seconds, text) => {
    const now = Date.UTC(2026, 0, 10);
    expect(formatAgo(new Date(now - seconds * 1_000).toISOString(), now)).toBe(text);
  });

  it('prints no duration if start or end is missing', () => {
    expect(elapsedMs('2026-01-01T00:00:00.000Z', null)).toBeUndefined();
    expect(elapsedMs('2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.037Z')).toBe(37);
  });

  it('leaves out counts of changes that are 0', () => {
    expect(formatChanges({})).toBe('no rows changed');
    expect(
      formatChanges({
        issues: { inserted: 0, updated: 1, deleted: 0 },
        comments: { inserted: 2, updated: 0, deleted: 1 },
      }),
    ).toBe('issues: 1 updated; comments: 2 inserted, 1 deleted');
  });

  it('prints rows under the union of their fields, each row on one line', () => {
    const rows = [
      { id: 1, body: 'two\nlines' },
      { id: 2, tags: ['a'] },
    ];
    expect(formatRows(rows, { columns: 80 })).toBe(
      'id  body       tags\n1   two lines\n2              ["a"]',
    );
    expect(formatRows(rows, { columns: 6 })).toBe('id  b…\n1   t…\n2    …');
    expect(cutLine('abcdef', 4)).toBe('abc…');
  });
});

describe('colours', () => {
  it('appear only on a terminal on which they are enabled', () => {
    expect(wantsColor({}, true)).toBe(true);
    expect(wantsColor({}, false)).toBe(false);
    expect(wantsColor({ NO_COLOR: '1' }, true)).toBe(false);
    expect(wantsColor({ NO_COLOR: '' }, true)).toBe(true);
    expect(wantsColor({ TERM: 'dumb' }, true)).toBe(false);
    const terminal = testContext({ isTerminal: true });
    terminal.out.write(terminal.colors.red(`x${terminal.colors.bold('y')}\u001b[31m`));
    expect(terminal.written().out).toBe('\u001b[31mx\u001b[1my\u001b[22m\\u001b[31m\u001b[39m');
    expect(testContext().colors.red('x')).toBe('x');
  });
});
