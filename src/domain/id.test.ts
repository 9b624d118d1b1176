import { describe, expect, it } from 'vitest';
import { isId, newId } from './id.ts';

describe('an identifier', () => {
  it('is unique and has the specified form', () => {
    const ids = Array.from({ length: 2_000 }, () => newId('call', 1_700_000_000_000));
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.every((id) => isId('call', id))).toBe(true);
    // Each position takes each of the 32 characters about equally often.
    for (let place = 15; place < 31; place += 1) {
      expect(new Set(ids.map((id) => id.charAt(place))).size).toBe(32);
    }
  });

  it('sorts by the time of its creation', () => {
    const ids = [1, 31, 32, 1_700_000_000_000, 1_700_000_000_001].map((ms) => newId('ses', ms));
    expect(ids.toSorted()).toEqual(ids);
  });
});
