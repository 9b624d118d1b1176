import { describe, expect, it } from 'vitest';
import { translateDatabaseError } from './errors.ts';

const failing = (code: string, message = 'as the database words it') =>
  translateDatabaseError(Object.assign(new Error(message), { code }));

describe('a failure of the database', () => {
  it.each([
    ['53100', 'unavailable', 'the disk of the database is full'],
    ['53300', 'unavailable', 'the database does not answer; try again in a moment'],
    ['57P01', 'unavailable', 'the database does not answer; try again in a moment'],
    ['ECONNREFUSED', 'unavailable', 'the database does not answer; try again in a moment'],
    ['57014', 'timeout', 'the database took too long to answer'],
    ['42P01', 'unavailable', 'the database lacks tables of this release; try again in a moment'],
    ['22021', 'invalid', 'a value in the request cannot be stored: as the database words it'],
  ])('with the code %s becomes `%s`: %s', (code, expected, message) => {
    expect(failing(code)).toMatchObject({ code: expected, message });
  });

  it('that no caller can act on stays as it is', () => {
    expect(failing('23505')).toMatchObject({ code: '23505', message: 'as the database words it' });
  });
});
