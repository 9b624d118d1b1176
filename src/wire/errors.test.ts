import { expect, it } from 'vitest';
import { AppError, errorCodes } from '#domain/error.ts';
import { fromErrorAnswer, toErrorAnswer } from './errors.ts';

it('an error of each code survives being written to an answer and read back', () => {
  for (const code of errorCodes) {
    const { status, body } = toErrorAnswer(new AppError(code, 'no', { detail: { limit: 3 } }));
    const read = fromErrorAnswer(status, body);
    expect(read).toMatchObject({ code, message: 'no', detail: { limit: 3, status } });
    expect(fromErrorAnswer(status, 'no JSON of ours').code).toBe(code);
  }
});

it('a query that ran too long is answered with status 524, and the timeout status of a proxy is read as the same error', () => {
  expect(toErrorAnswer(new AppError('timeout', 'too long')).status).toBe(524);
  expect(fromErrorAnswer(504, '<html>').code).toBe('timeout');
});
