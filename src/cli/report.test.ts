import { describe, expect, it } from 'vitest';
import { AppError } from '#domain/error.ts';
import { describeFailure, exitStatus, problemsError, reportError, usageError } from './report.ts';
import { interruption } from './stopping.ts';
import { testContext } from './test-context.ts';

const problem = (file: string, line: number) => ({
  file,
  pointer: '',
  code: 'wrong',
  message: `wrong ${line}`,
  line,
});

describe('report', () => {
  it('tells an error with its causes on one line', () => {
    const error = new AppError('unavailable', 'no answer', { cause: new Error('refused') });
    expect(describeFailure(error)).toEqual(['error: no answer: refused']);
    expect(describeFailure(new TypeError('odd'))).toEqual(['error: odd']);
  });

  it('puts problems of rows last and cuts long lists of them', () => {
    const rows = Array.from({ length: 10 }, (_, index) => problem('data/a.json', index + 1));
    const error = problemsError('./world', [...rows, problem('schema/world.json', 3)]);
    const lines = describeFailure(error);
    expect(lines.slice(0, 3)).toEqual([
      'error: ./world does not compile',
      '  schema/world.json:3: wrong 3',
      '  data/a.json:1: wrong 1',
    ]);
    expect(lines.at(-1)).toBe('  data/a.json: and 2 more');
  });

  it('ends with the status that fits', () => {
    const context = testContext();
    expect(reportError(context, new AppError('conflict', 'x'))).toBe(exitStatus.failed);
    expect(reportError(context, usageError('y'))).toBe(exitStatus.usage);
    expect(reportError(context, interruption('SIGINT'))).toBe(130);
    expect(context.written().err).toBe('error: x\nerror: y\nerror: interrupted\n');
  });
});
