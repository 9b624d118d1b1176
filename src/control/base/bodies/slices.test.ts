import { expect, it } from 'vitest';
import { sliced, unpacked } from './slices.ts';

it('slices of a long list have at most 500 entries each, whether they are values or bytes from another process', () => {
  const items = Array.from({ length: 1_001 }, (_, number) => ({ number, at: undefined }));
  for (const isApart of [false, true]) {
    const slices = [...unpacked(sliced(items, isApart))];
    expect(slices.map(({ length }) => length)).toEqual([500, 500, 1]);
    expect(slices.flat()).toEqual(items);
  }
  expect(sliced(items, true).parts.every((part) => part instanceof Uint8Array)).toBe(true);
  expect([...unpacked(sliced([], true))]).toEqual([]);
});
