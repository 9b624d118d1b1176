/** Tests the parsing of addresses and of untrusted texts. */
import { Lexer } from 'marked';
import { describe, expect, it } from 'vitest';
import { processorMs } from '#test/support/programs/processor-time.ts';
import { decodeEntities } from './entities.ts';
import { isNarrowed, readListSearch, searchQuery } from './list-search.ts';
import { isReadable } from './markdown-bounds.ts';
import { destinationOf, findReferences } from './references.ts';

const place = { owner: 'northquay', repo: 'berth' };

describe("the query of a list's address", () => {
  it('is read without its invalid parts', () => {
    const given = {
      q: 12,
      state: 'closed',
      labels: ['bug', 'bug', ''],
      page: 3,
      sort: 'created-asc',
    };
    expect(readListSearch(given)).toEqual({
      q: '12',
      state: 'closed',
      labels: ['bug'],
      page: 3,
      sort: 'created-asc',
    });
    const odd = { q: {}, state: 'gone', labels: 'bug', page: -1, sort: 'toString', other: 1 };
    expect(readListSearch(odd)).toEqual({ labels: ['bug'] });
    expect(readListSearch({ state: 'open', page: 1.5, assignee: null })).toEqual({});
  });

  it("is translated into a search in the vendor's syntax", () => {
    expect(searchQuery(place, 'issue', {})).toEqual({
      q: 'repo:northquay/berth is:issue state:open',
      sort: 'created',
      order: 'desc',
      per_page: 25,
      page: 1,
    });
    const search = {
      state: 'all',
      labels: ['area: emails', 'a "quoted" one'],
      assignee: 'none',
      author: 'ann',
      milestone: '2.8',
      q: 'reminder -label:bug',
      sort: 'comments-asc',
      page: 2,
    } as const;
    expect(searchQuery(place, 'pr', { ...search, labels: [...search.labels] })).toMatchObject({
      q: 'repo:northquay/berth is:pr label:"area: emails" label:"a  quoted  one" no:assignee author:ann milestone:"2.8" reminder -label:bug',
      sort: 'comments',
      order: 'asc',
      page: 2,
    });
  });

  it('counts as a filter, except for its state, order and page', () => {
    expect(isNarrowed({ state: 'closed', sort: 'created-asc', page: 2 })).toBe(false);
    expect(isNarrowed({ labels: ['bug'] })).toBe(true);
  });
});

describe('references in a text', () => {
  const piecesOf = (text: string) =>
    findReferences(text, place).map((piece) =>
      piece.kind === 'issue' ? [piece.text, piece.place.owner, piece.number] : piece,
    );

  it('are found for issues of this and other repositories, and for people', () => {
    expect(piecesOf('See #12, mikkelh/tides#3 and @ann.')).toEqual([
      { kind: 'text', text: 'See ' },
      ['#12', 'northquay', 12],
      { kind: 'text', text: ', ' },
      ['mikkelh/tides#3', 'mikkelh', 3],
      { kind: 'text', text: ' and ' },
      { kind: 'login', text: '@ann' },
      { kind: 'text', text: '.' },
    ]);
  });

  it('are not found within other words', () => {
    for (const text of ['a#12', '#12a', 'ann@example.com', 'C#', '##12', '#1234567890', '']) {
      expect(
        piecesOf(text).filter((piece) => Array.isArray(piece) || piece.kind !== 'text'),
      ).toEqual([]);
    }
  });

  it('are found in long texts within the time limit', () => {
    const began = processorMs();
    for (const text of [
      'a'.repeat(60_000),
      'a/'.repeat(30_000),
      '#'.repeat(60_000),
      'a-'.repeat(30_000),
    ]) {
      findReferences(text, place);
    }
    expect(processorMs() - began).toBeLessThan(1_000);
  });
});

describe('links in a text', () => {
  it('lead to issues on the page, and to http and mail addresses outside', () => {
    expect(destinationOf('https://code.example/northquay/berth/issues/139#issuecomment-1')).toEqual(
      {
        place,
        number: 139,
      },
    );
    expect(destinationOf('https://example.com/a')).toEqual({ outside: 'https://example.com/a' });
    expect(destinationOf('mailto:ann@example.com')).toEqual({ outside: 'mailto:ann@example.com' });
  });

  it('lead to no other address', () => {
    const odd = [
      'javascript:alert(1)',
      ' javascript:alert(1)',
      'JaVaScRiPt:alert(1)',
      'data:text/html,<script>alert(1)</script>',
      'vbscript:x',
      'file:///etc/passwd',
      '//example.com',
      '/northquay',
      'https:///x',
      '',
    ];
    expect(odd.map(destinationOf)).toEqual(odd.map(() => undefined));
  });
});

it('character references are decoded by name or number, and nothing else is', () => {
  expect(
    decodeEntities('&lt;b&gt; &amp;amp; &#65;&#x42; &nosuch; &constructor; &#0; &#xd800; &'),
  ).toBe('<b> &amp; AB &nosuch; &constructor; &#0; &#xd800; &');
});

describe('texts', () => {
  const seconds = (text: string): number => {
    const began = processorMs();
    if (isReadable(text)) new Lexer({ gfm: true, breaks: true }).lex(text);
    return (processorMs() - began) / 1_000;
  };

  it('are parsed as Markdown if people could have written them', () => {
    for (const text of [
      '',
      '# A\n\n- [ ] _b_\n  - **c**\n',
      'snake_case '.repeat(1_000),
      '> a\n'.repeat(300),
    ]) {
      expect(isReadable(text)).toBe(true);
    }
  });

  it('are not parsed as Markdown if that would block the page', () => {
    const texts = ['_a', '> ', '1. ', '- ', '*', '> a\nb\n', '[a](', '`', '<a ', '|', '![', '~~a '];
    const slow = texts.filter((text) => seconds(text.repeat(65_000 / text.length)) > 3);
    expect(slow).toEqual([]);
    expect(isReadable('a'.repeat(65_537))).toBe(false);
  });
});
