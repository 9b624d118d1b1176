import { describe, expect, it } from 'vitest';
import { AppError } from '#domain/error.ts';
import { testContext } from '#test/support/cli/context.ts';
import { textFile } from '#test/support/worlds/small-world.ts';
import { interruption } from '../terminal/stopping.ts';
import { describeFailure, exitStatus, ProblemsError, reportError, usageError } from './report.ts';

const problem = (file: string, line: number) => ({
  file,
  pointer: '',
  code: 'wrong',
  message: `wrong ${line}`,
  line,
  column: 1,
});

describe('a report of an error', () => {
  it('prints the error and its causes on one line', () => {
    const error = new AppError('unavailable', 'no answer', { cause: new Error('refused') });
    expect(describeFailure(error)).toEqual(['error: no answer: refused']);
    expect(describeFailure(new TypeError('odd'))).toEqual(['error: odd']);
  });

  it('puts problems of rows last, and cuts long lists of them', () => {
    const rows = Array.from({ length: 10 }, (_, index) => problem('data/a.json', index + 1));
    const error = new ProblemsError('./world', [...rows, problem('schema/world.json', 3)]);
    const lines = describeFailure(error);
    expect(lines.slice(0, 5)).toEqual([
      'error: ./world does not compile: 11 problems',
      '',
      'schema/world.json:3:1 wrong: wrong 3',
      '',
      'data/a.json:1:1 wrong: wrong 1',
    ]);
    expect(lines.at(-1)).toBe('data/a.json: and 2 more');
  });

  it('shows lines of the files that are passed in', () => {
    const error = new ProblemsError(
      './world',
      [problem('a.toml', 2)],
      [textFile('a.toml', '\nx = 1\n')],
    );
    expect(describeFailure(error).slice(3)).toEqual(['    2 | x = 1', '      | ^']);
  });

  it('returns the exit status for the kind of the error', () => {
    const context = testContext();
    expect(reportError(context, new AppError('conflict', 'x'))).toBe(exitStatus.failed);
    expect(reportError(context, usageError('y'))).toBe(exitStatus.failed);
    expect(reportError(context, interruption('SIGINT'))).toBe(130);
    expect(context.written().err).toBe('error: x\nerror: y\nerror: interrupted\n');
  });
});
