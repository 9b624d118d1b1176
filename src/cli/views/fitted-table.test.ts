import { describe, expect, it } from 'vitest';
import { createColors } from '../terminal/colors.ts';
import { widthOf } from '../terminal/print.ts';
import { formatFitted } from './fitted-table.ts';

const colors = createColors(false);
const head = ['RUN', 'AGENT', 'MODEL', 'NOTE'];
const long = 'a note of some length that does not fit';
const lines = [
  ['nightly', 'support', '-', long],
  ['weekly', 'support', '', 'short'],
];
const show = (columns: number, fitting = {}) =>
  formatFitted(head, lines, { colors, columns }, fitting);

describe('a table that is fitted to the terminal', () => {
  it('leaves out a column that is empty in all entries', () => {
    expect(show(Infinity)).toBe(
      `RUN      AGENT    NOTE\nnightly  support  ${long}\nweekly   support  short`,
    );
  });

  it('leaves out columns before it cuts others, and no more than necessary', () => {
    const fitting = { leftOut: ['AGENT', 'MODEL'], cut: ['NOTE'] };
    expect(show(50, fitting)).toBe(`RUN      NOTE\nnightly  ${long}\nweekly   short`);
    expect(show(40, fitting)).toBe(
      'RUN      NOTE\nnightly  a note of some length that doe…\nweekly   short',
    );
    expect(show(60, fitting)).toContain('AGENT');
  });

  it('shows each entry as a block if a cell would be cut to less than 16 columns', () => {
    expect(show(24, { leftOut: ['AGENT'], cut: ['NOTE'] }).split('\n')).toEqual([
      ...['nightly', `  agent support`, `  note ${long}`],
      ...['weekly', '  agent support', '  note short'],
    ]);
  });

  it('shows a name even for an entry that has only a number', () => {
    const text = formatFitted(['VERSION', 'NOTE'], [['3', long]], { colors, columns: 40 });
    expect(text.split('\n')[0]).toBe('version 3');
  });

  it('does not wrap a field that fits, and does not count colour codes', () => {
    const painted = createColors(true);
    const cells = ['nightly', painted.green('support'), painted.red('gpt-4o'), long];
    const text = formatFitted(head, [cells], { colors: painted, columns: 46 });
    expect(text.split('\n')).toHaveLength(3);
    expect(widthOf(text)).toBeLessThanOrEqual(46);
    expect(text).not.toContain('\\u001b');
  });

  it('prints a sentence in place of an empty table', () => {
    expect(formatFitted(head, [], { colors, columns: 80 }, { none: 'no runs' })).toBe('no runs');
  });
});
