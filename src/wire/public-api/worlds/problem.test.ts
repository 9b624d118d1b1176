import { describe, expect, it } from 'vitest';
import { AppError } from '#domain/error.ts';
import { fromErrorAnswer, toErrorAnswer } from '../../errors.ts';
import { type ProblemsDetail, problemsOf } from './problem.ts';

const problem = { file: 'a.toml', pointer: '/x', code: 'unknown_key', message: 'x is unknown' };

const sent = (error: AppError): AppError => {
  const { status, body } = toErrorAnswer(error);
  return fromErrorAnswer(status, JSON.parse(JSON.stringify(body)));
};

describe('problems of a refused tree', () => {
  it('reach the client unchanged', () => {
    const problems = [problem, { ...problem, line: 2, column: 1, hint: 'remove it' }];
    const detail: ProblemsDetail = { problems };
    expect(problemsOf(sent(new AppError('invalid', 'no world', { detail })))).toEqual(problems);
  });

  it.each([
    {},
    { problems: 'many' },
    { problems: [{ ...problem, line: 0 }] },
    { problems: [null] },
  ])('are not found in the detail %j of another server', (detail) => {
    expect(problemsOf(sent(new AppError('invalid', 'no world', { detail })))).toEqual([]);
  });
});
