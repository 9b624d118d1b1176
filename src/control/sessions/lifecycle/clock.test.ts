import { describe, expect, it } from 'vitest';
import { resolveClock } from './clock.ts';

const now = new Date('2026-05-06T07:08:09.999Z');

describe('the clock of a session', () => {
  it('is the clock of the machine unless the request asks for another', () => {
    const machine = { at: null, mode: 'real', rate: 1 };
    expect(resolveClock(undefined, now)).toEqual(machine);
    expect(resolveClock({}, now)).toEqual(machine);
    expect(resolveClock({ rate: 60 }, now)).toEqual({ ...machine, rate: 60 });
  });

  it('starts at the requested time; a frozen clock without a requested time starts at the current second', () => {
    const at = '2026-03-01T10:30:00.5+01:00';
    expect(resolveClock({ at }, now)).toEqual({
      at: '2026-03-01T09:30:00.500Z',
      mode: 'real',
      rate: 1,
    });
    expect(resolveClock({ at: '2024-02-29', mode: 'stepped', rate: 0.5 }, now)).toEqual({
      at: '2024-02-29T00:00:00.000Z',
      mode: 'stepped',
      rate: 0.5,
    });
    expect(resolveClock({ mode: 'frozen' }, now).at).toBe('2026-05-06T07:08:09.000Z');
  });

  it.each([
    [{ at: 'yesterday' }, 'at', /no date and time such as/],
    [{ at: '2026-03-01T09:30:00' }, 'at', /no date and time such as/],
    [{ at: '2026-03-01T24:30:00Z' }, 'at', /no date and time such as/],
    [{ at: '2026-02-30' }, 'at', /the calendar does not have/],
    [{ at: '2026-13-01T00:00:00Z' }, 'at', /the calendar does not have/],
    [{ at: '1969-12-31T23:59:59Z' }, 'at', /between the years 1970 and 9999/],
    [{ at: '9999-12-31T23:59:59-01:00' }, 'at', /between the years 1970 and 9999/],
    [{ rate: 0 }, 'rate', /above 0/],
    [{ mode: 'stepped' as const, rate: -1 }, 'rate', /above 0/],
    [{ rate: 1e7 }, 'rate', /at most 1000000/],
    [{ mode: 'frozen' as const, rate: 1 }, 'rate', /frozen clock stands still/],
  ])('is refused if it is given as %j', (given, member, message) => {
    expect(() => resolveClock(given, now)).toThrow(
      expect.objectContaining({
        code: 'invalid',
        fields: [{ path: ['clock', member], message: expect.stringMatching(message) }],
      }),
    );
  });
});
