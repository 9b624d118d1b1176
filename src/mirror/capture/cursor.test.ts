import { describe, expect, it } from 'vitest';
import { nextCursor } from './cursor.ts';

const inField = { param: 'after', from: { field: ['meta', 'next'] } };
const inHeader = { param: 'after', from: { header: 'X-Next' } };
const inLink = { param: 'after', from: { header: 'Link' } };

const ofField = (next: unknown) => nextCursor(inField, { headers: {}, body: { meta: { next } } });
const ofHeader = (value?: string) =>
  nextCursor(inHeader, { headers: value === undefined ? {} : { 'x-next': value }, body: null });
const ofLink = (link?: string) =>
  nextCursor(inLink, { headers: link === undefined ? {} : { link }, body: null });

describe('nextCursor', () => {
  it.each([
    ['a number', 40, '40'],
    ['a large number', 9_007_199_254_740_991, '9007199254740991'],
    ['zero, which some begin at', 0, '0'],
    ['a text', 'eyJpZCI6NH0=', 'eyJpZCI6NH0='],
    ['a text that looks like a number', '0040', '0040'],
    ['an address', 'https://vendor.example/items?limit=5&after=c%2F4', 'c/4'],
    ['a path', '/items?after=7', '7'],
    ['a query', '?after=7&limit=5', '7'],
    ['an empty text', '', null],
    ['null', null, null],
    ['false', false, null],
    ['nothing', undefined, null],
  ])('reads a field that contains %s', (_, value, next) => {
    expect(ofField(value)).toEqual({ next });
  });

  it('finds no cursor in a body without the object that contains the cursor', () => {
    for (const body of [null, [], {}, { meta: null }, 'text', 7]) {
      expect(nextCursor(inField, { headers: {}, body })).toEqual({ next: null });
    }
  });

  it.each([
    ['a list', ['a'], 'the cursor is a list'],
    ['an object', { id: 4 }, 'the cursor is a object'],
    ['true', true, 'the cursor is a boolean'],
    ['an address without it', 'https://vendor.example/items?page=2', 'no parameter'],
    ['an address with it empty', '/items?after=', 'no parameter'],
  ])('returns a problem for a field that contains %s', (_, value, problem) => {
    expect(ofField(value)).toEqual({ problem: expect.stringContaining(problem) });
  });

  it.each([
    ['a number', '40', '40'],
    ['a text', 'c/4', 'c/4'],
    ['an address', 'https://vendor.example/items?after=4', '4'],
    ['nothing in it', '', null],
    ['blanks', '   ', null],
  ])('reads a header that contains %s', (_, value, next) => {
    expect(ofHeader(value)).toEqual({ next });
  });

  it('finds no cursor if the header is missing', () => {
    expect(ofHeader()).toEqual({ next: null });
  });

  it.each([
    ['an address', '<https://v.example/x?after=4>; rel="next"', '4'],
    ['a path', '</x?after=4>; rel=next', '4'],
    [
      'several',
      '<https://v.example/x?after=1>; rel="prev", <https://v.example/x?after=4>; rel="next"',
      '4',
    ],
    ['several words', '</x?after=4>; rel="last next"', '4'],
    [
      'commas in addresses and titles',
      '</x?f=a,b&after=1>; title="a, <b>"; rel="prev", </x?f=a,b&after=4>; rel="next"',
      '4',
    ],
    ['other letters', '</x?after=4>; REL="NEXT"', '4'],
    ['none for next', '</x?after=1>; rel="prev"', null],
    ['a word that only begins so', '</x?after=1>; rel="next-archive"', null],
    ['nothing in it', '', null],
    ['nonsense', 'next', null],
  ])('reads a Link header with %s', (_, link, next) => {
    expect(ofLink(link)).toEqual({ next });
  });

  it('returns a problem for a Link header whose URL has no cursor, but not for a missing Link header', () => {
    expect(ofLink('</x?page=4>; rel="next"')).toEqual({
      problem: expect.stringContaining('after'),
    });
    expect(ofLink()).toEqual({ next: null });
  });
});
