import picocolors from 'picocolors';
import { describe, expect, it } from 'vitest';
import type { Problem } from '#language/problem.ts';
import { textFile } from '#test/support/worlds/small-world.ts';
import { excerptOf, lineOf } from './excerpt.ts';
import { formatProblem, formatProblems } from './problem.ts';

const view = { colors: picocolors.createColors(false), columns: 60 };

const problem = (more: Partial<Problem> = {}): Problem => ({
  file: 'svc-env.toml',
  pointer: '/tools/serv',
  code: 'unknown_key',
  message: 'unknown key "serv"',
  hint: 'did you mean "serve"?',
  line: 2,
  column: 1,
  ...more,
});

/** Returns the line and the mark below it, without the rest of the output. */
const draw = (line: string, column: number, columns = 60): string => {
  const { text, indent, length } = excerptOf(line, column, columns);
  return `${text}\n${' '.repeat(indent)}${'^'.repeat(length)}`;
};

describe('formatProblem', () => {
  it('shows the line with a mark under the place', () => {
    expect(formatProblem(problem(), '[tools]\r\nserv = ["a"]\r\n', view).join('\n')).toBe(
      `\
svc-env.toml:2:1 unknown_key: unknown key "serv"
    2 | serv = ["a"]
      | ^^^^
      = did you mean "serve"?`,
    );
  });

  it('shows a problem without a file, place or hint', () => {
    const { hint: _, line: __, column: ___, ...bare } = problem();
    expect(formatProblem(problem(), undefined, view)).toEqual([
      'svc-env.toml:2:1 unknown_key: unknown key "serv"',
      '      = did you mean "serve"?',
    ]);
    expect(formatProblem(bare, 'x', view)).toEqual([
      'svc-env.toml (at /tools/serv) unknown_key: unknown key "serv"',
    ]);
    expect(formatProblem({ ...bare, file: '', pointer: '' }, 'x', view)).toEqual([
      'unknown_key: unknown key "serv"',
    ]);
    expect(formatProblem(problem({ line: 9 }), 'x', view)).toHaveLength(2);
  });

  it('shows control characters instead of sending them to the terminal', () => {
    const hostile = problem({ message: '\u001b[2J\u202e', hint: 'a\nb', file: 'a\u0007.md' });
    expect(formatProblem(hostile, '\n\u001b]0;x', view).join('\n')).toBe(
      `\
a\\u0007.md:2:1 unknown_key: \\u001b[2J\\u202e
    2 | \\u001b]0;x
      | ^^^^^^
      = a\\u000ab`,
    );
  });

  it('uses colours on a terminal', () => {
    const colors = picocolors.createColors(true);
    const lines = formatProblem(problem(), '\nserv = 1', { ...view, colors });
    expect(lines[0]).toContain('\u001b[1msvc-env.toml:2:1\u001b[22m');
    expect(lines[2]).toContain('\u001b[31m^^^^\u001b[39m');
  });
});

describe('formatProblems', () => {
  it('takes lines from the given files, by path', () => {
    const sources = [textFile('a', 'x'), textFile('svc-env.toml', '\nserv = 1')];
    expect(formatProblems([problem()], { ...view, sources })[2]).toBe('    2 | serv = 1');
  });

  it('shows the first problems of a file, and the number of further ones', () => {
    const many = Array.from({ length: 10 }, (_, index) => problem({ line: index + 1 }));
    const lines = formatProblems([...many, problem({ file: 'b.toml' })], view);
    expect(lines).toContain('svc-env.toml: and 2 more');
    expect(lines.filter((line) => line.startsWith('svc-env.toml:'))).toHaveLength(9);
    expect(lines.at(-2)).toMatch(/^b\.toml:2:1/);
  });
});

describe('excerptOf', () => {
  it.each([
    ['a word', 'name = value # c', 8, '       ^^^^^'],
    ['a string', 'a = "b \\" c" # "', 5, '    ^^^^^^^^'],
    ['a key', '"a.b" = 1', 1, '^^^^^'],
    ['a list', 'a = [["]"], {}] # ]', 5, '    ^^^^^^^^^^^'],
    ['a header', '[[a."b"]] # c', 1, '^^^^^^^^^'],
    ['a list that goes on', 'a = [', 5, '    ^'],
    ['a string that goes on', "a = '''b c", 5, '    ^^^'],
    ['a sign', 'a , b', 3, '  ^'],
    ['the end of the line', 'a = ', 5, '    ^'],
    ['behind the end', 'a', 9, ' ^'],
    ['an empty line', '', 1, '^'],
  ])('marks %s', (_what, line, column, marks) => {
    expect(draw(line, column)).toBe(`${line}\n${marks}`);
  });

  it('counts columns as a terminal does', () => {
    expect(draw('\ta\tb = 1', 4)).toBe('    a   b = 1\n        ^');
    expect(draw('日本 = "é😀e\u0301"', 6)).toBe('日本 = "é😀e\u0301"\n       ^^^^^^');
  });

  it('cuts long lines around the mark', () => {
    const line = `start ${'a'.repeat(50)} MARK ${'b'.repeat(50)}`;
    expect(draw(line, 1, 20)).toBe(`start ${'a'.repeat(13)}…\n^^^^^`);
    expect(draw(line, 58, 20)).toBe(`…aaaaa MARK bbbbbbb…\n       ^^^^`);
    expect(draw(line, 110, 20).split('\n')[0]).toMatch(/^…b+$/);
  });

  it('never takes more columns than there are, and marks a position within them', () => {
    const line = `日本\t"x😀${'y'.repeat(300)}" = [1, 2]${' z'.repeat(100)}`;
    for (let column = 1; column <= line.length; column += 1) {
      const { text, indent, length } = excerptOf(line, column, 40);
      expect(indent + length).toBeLessThanOrEqual(40);
      expect(text.length).toBeLessThanOrEqual(42);
    }
  });

  it('reads only that part of a line that can be shown', () => {
    const line = 'x'.repeat(8 * 1024 * 1024);
    expect(draw(line, 4_000_000, 20)).toBe(
      `…${'x'.repeat(18)}…\n${' '.repeat(7)}${'^'.repeat(13)}`,
    );
  });
});

describe('lineOf', () => {
  it('finds lines with any kind of line end', () => {
    expect([1, 2, 3, 4].map((line) => lineOf('a\r\n\nb', line))).toEqual(['a', '', 'b', undefined]);
  });
});
