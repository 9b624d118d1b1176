import { describe, expect, it } from 'vitest';
import { chooseMediaType } from './media-types.ts';

const offered = ['application/json', 'application/vnd.notes.*+json', 'text/x-patch', 'text/html'];

describe('chooseMediaType', () => {
  it.each([
    [undefined, 'application/json'],
    ['', 'application/json'],
    ['*/*', 'application/json'],
    ['application/*', 'application/json'],
    ['text/x-patch', 'text/x-patch'],
    ['TEXT/X-Patch;charset=utf-8', 'text/x-patch'],
    ['text/*', 'text/x-patch'],
    ['application/vnd.notes.full+json, */*', 'application/vnd.notes.full+json'],
    ['text/html;q=0.5, text/x-patch;q=0.8', 'text/x-patch'],
    ['image/png, text/html', 'text/html'],
    ['text/html;q=0, */*;q=0.1', 'application/json'],
    ['text/x-patch;q=x', 'text/x-patch'],
  ])('for the header Accept: %s, chooses %s', (accept, chosen) => {
    expect(chooseMediaType(accept, offered)).toBe(chosen);
  });

  it.each(['image/png', 'application/vnd.notes.json', 'text/html;q=0', 'image/*'])(
    'for the header Accept: %s, chooses no type',
    (accept) => {
      expect(chooseMediaType(accept, offered)).toBeUndefined();
    },
  );
});
