import { describe, expect, it } from 'vitest';
import { textFile } from '#test/support/worlds/small-world.ts';
import type { VendorOperation } from '../contract.ts';
import { createProblems } from '../read/place.ts';
import { openTree, type Tree } from '../read/tree.ts';
import { matchCaptures, readCaptures } from './capture-json.ts';

const capture = {
  operation: 'list_cards',
  arguments: { list_id: '1' },
  status: 200,
  body: { cards: [] },
};

const treeOf = (files: Record<string, unknown>): Tree => {
  const contents = Object.entries(files).map(([path, content]) =>
    textFile(path, typeof content === 'string' ? content : JSON.stringify(content)),
  );
  const tree = openTree(contents, createProblems());
  if (tree === undefined) throw new Error('the tree is too large');
  return tree;
};

const problemsOf = ({ problems }: Tree): string[][] =>
  problems.list().map(({ code, file, pointer }) => [code, file, pointer]);

describe('readCaptures', () => {
  it('reads every capture, sorted by path', () => {
    const tree = treeOf({
      'captures/list_cards/b.json': { ...capture, url: 'https://x.example/', captured_at: 'today' },
      'captures/list_cards/a.json': { ...capture, status: 404, body: null },
      'captures/README.md': 'Notes.',
      'captures/list_cards/notes.md': '',
      'other.json': {},
    });
    const captures = readCaptures(tree);
    expect(captures.map(({ place }) => place.file)).toEqual([
      'captures/list_cards/a.json',
      'captures/list_cards/b.json',
    ]);
    expect(captures.map(({ value }) => value)).toEqual([
      { ...capture, status: 404, body: null, url: undefined, captured_at: undefined },
      { ...capture, url: 'https://x.example/', captured_at: 'today' },
    ]);
    expect(problemsOf(tree)).toEqual([]);
  });

  const file = 'captures/list_cards/a.json';
  it.each([
    ['a key is missing', file, { ...capture, body: undefined }, 'missing_key', '/body'],
    ['a key is unknown', file, { ...capture, argument: {} }, 'unknown_key', '/argument'],
    ['a value has another type', file, { ...capture, arguments: [] }, 'wrong_type', '/arguments'],
    [
      'the status is not a status of HTTP',
      file,
      { ...capture, status: 99 },
      'bad_value',
      '/status',
    ],
    ['the file is no object', file, [capture], 'wrong_type', ''],
    ['the file is not valid JSON', file, '{', 'syntax', ''],
    ['the file nests too deeply', file, `${'['.repeat(100)}${']'.repeat(100)}`, 'too_deep', ''],
    [
      'the file is in the folder of another operation',
      'captures/get_card/a.json',
      capture,
      'bad_capture',
      '/operation',
    ],
    [
      'the file is not in the folder of an operation',
      'captures/a.json',
      capture,
      'unsupported_file',
      '',
    ],
    [
      'the file is in a subfolder of its operation',
      'captures/list_cards/b/a.json',
      capture,
      'unsupported_file',
      '',
    ],
    ['the file has another ending', 'captures/list_cards/a.txt', 'x', 'unsupported_file', ''],
  ])('leaves a capture out and reports the reason if %s', (_what, path, content, code, pointer) => {
    const tree = treeOf({ [path]: content, 'captures/list_cards/ok.json': capture });
    expect(readCaptures(tree)).toHaveLength(1);
    expect(problemsOf(tree)).toEqual([[code, path, pointer]]);
  });

  it('treats hostile keys like any other', () => {
    const tree = treeOf({
      [file]: '{"operation":"list_cards","arguments":{"__proto__":{"a":1}},"status":200,"body":1}',
      'captures/list_cards/b.json':
        '{"__proto__":{"operation":"list_cards"},"arguments":{},"status":200,"body":1}',
    });
    const [read] = readCaptures(tree);
    expect(Object.keys(read?.value.arguments ?? {})).toEqual(['__proto__']);
    expect(problemsOf(tree).map(([code]) => code)).toEqual(['missing_key', 'unknown_key']);
  });

  it('refuses more captures than the limit', () => {
    const files = Array.from({ length: 1_001 }, (_, i) => [
      `captures/list_cards/${i}.json`,
      capture,
    ]);
    const tree = treeOf(Object.fromEntries(files));
    expect(readCaptures(tree)).toEqual([]);
    expect(problemsOf(tree)).toEqual([['too_many', 'captures/', '']]);
  });
});

describe('matchCaptures', () => {
  it('finds the operation of each capture, and refuses a capture without an operation', () => {
    const operation: VendorOperation = {
      name: 'list_cards',
      method: 'GET',
      path: '/cards',
      segments: [{ literal: 'cards' }],
      params: [],
      entity: null,
      results: [],
      ingest: { drop: [], carryArgs: [], explode: [] },
    };
    const tree = treeOf({
      'captures/list_cards/a.json': capture,
      'captures/list_card/a.json': { ...capture, operation: 'list_card' },
      'captures/toString/a.json': { ...capture, operation: 'toString' },
    });
    const matched = matchCaptures(readCaptures(tree), [operation]);
    expect(matched.map(({ capture: { place }, operation: of }) => [place.file, of.name])).toEqual([
      ['captures/list_cards/a.json', 'list_cards'],
    ]);
    expect(tree.problems.list()).toMatchObject([
      {
        code: 'bad_capture',
        file: 'captures/list_card/a.json',
        hint: 'did you mean "list_cards"?',
      },
      { code: 'bad_capture', file: 'captures/toString/a.json', pointer: '/operation' },
    ]);
  });
});
