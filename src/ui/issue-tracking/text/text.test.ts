/** Tests the parsing of addresses, queries, fields and rich texts, without their rendering. */
import { describe, expect, it } from 'vitest';
import type { FieldMeta, Node } from '../api/bodies.ts';
import { bodyOf, itemsOf, kindOf } from './fields.ts';
import { jqlOf, readListSearch } from './jql.ts';
import { destinationOf, isMarkup, isShowable, wordsOf } from './rich-text.ts';

describe('a query of a list', () => {
  it('contains the chosen values, and quotes the texts', () => {
    const search = { q: 'a "b" \\', status: "Won't do", assignee: 'none', sort: 'updated' };
    expect(jqlOf('BERTH', search)).toBe(
      'project = "BERTH" AND text ~ "a \\"b\\" \\\\" AND status = "Won\'t do"' +
        ' AND assignee IS EMPTY ORDER BY updated DESC',
    );
  });

  it('sorts by creation time if the order is missing or invalid', () => {
    expect(jqlOf('', {})).toBe('ORDER BY created DESC');
    expect(jqlOf('', { sort: 'constructor' })).toBe('ORDER BY created DESC');
  });

  it('is used unchanged if a person wrote it', () => {
    expect(jqlOf('BERTH', { jql: 'key = A-1', q: 'x' })).toBe('key = A-1');
  });

  it('is built from any address without an error', () => {
    const given = { q: 12, jql: '', status: { a: 1 }, page: 3, other: 'x' };
    expect(readListSearch(given)).toEqual({ q: '12', page: 3 });
    expect(readListSearch({ page: -1 })).toEqual({});
  });
});

const meta = (schema: FieldMeta['schema'], more: Partial<FieldMeta> = {}): FieldMeta => ({
  key: 'customfield_1',
  name: 'A',
  required: false,
  schema,
  ...more,
});

describe('a field', () => {
  const allowedValues = [{ id: '1', value: 'One' }];
  it.each([
    [meta({ type: 'option' }, { allowedValues }), 'choice', ['1'], { id: '1' }],
    [meta({ type: 'array', items: 'version' }, { allowedValues }), 'choices', ['1'], [{ id: '1' }]],
    [meta({ type: 'user' }), 'person', [], null],
    [meta({ type: 'array', items: 'user' }), 'people', ['a'], [{ accountId: 'a' }]],
    [meta({ type: 'array', items: 'string' }), 'labels', ['a, b  c'], ['a', 'b', 'c']],
    [meta({ type: 'number' }), 'number', ['2.5'], 2.5],
    [meta({ type: 'date' }), 'date', [' '], null],
    [meta({ type: 'string' }), 'text', ['x'], 'x'],
  ] as const)('is written in the form of its kind: %o', (one, kind, chosen, body) => {
    expect(kindOf(one)).toBe(kind);
    expect(bodyOf(kind, chosen)).toEqual(body);
  });

  it('is not listed if the page shows it in a place of its own', () => {
    expect(kindOf(meta({ type: 'string' }, { key: 'summary' }))).toBeUndefined();
    expect(kindOf(meta({ type: 'issuelink' }))).toBeUndefined();
  });

  it('is built from people, options and plain values', () => {
    const held = [{ accountId: 'a', displayName: 'Ann' }, { id: '1', value: 'One' }, 7];
    expect(itemsOf(held)).toEqual([
      { value: 'a', name: 'Ann' },
      { value: '1', name: 'One' },
      { value: '7', name: '7' },
    ]);
    expect(itemsOf(null)).toEqual([]);
  });
});

const text = (words: string): Node => ({ type: 'text', text: words });

describe('a rich text', () => {
  it('links to issues and outside addresses, and never to code', () => {
    expect(destinationOf('https://northquay.issues.example/browse/BERTH-1')).toEqual({
      key: 'BERTH-1',
    });
    expect(destinationOf('https://a.example/b')).toEqual({ outside: 'https://a.example/b' });
    expect(destinationOf('javascript:alert(1)')).toBeUndefined();
    expect(destinationOf({ toString: () => 'https://a.example' })).toBeUndefined();
  });

  it('is not shown if it is too deep or too long', () => {
    const deep = (levels: number): Node =>
      levels === 0 ? text('a') : { type: 'blockquote', content: [deep(levels - 1)] };
    expect(isShowable(deep(30))).toBe(true);
    expect(isShowable(deep(50))).toBe(false);
    const long = { type: 'doc', content: Array.from({ length: 30_000 }, () => text('a')) };
    expect(isShowable(long)).toBe(false);
  });

  it('stays unchanged when it is edited as markup, unless markup cannot express it', () => {
    const paragraph = { type: 'paragraph', content: [text('a')] };
    const list = { type: 'bulletList', content: [{ type: 'listItem', content: [paragraph] }] };
    expect(isMarkup({ type: 'doc', content: [paragraph, list] })).toBe(true);
    expect(isMarkup({ type: 'doc', content: [{ type: 'panel', content: [paragraph] }] })).toBe(
      false,
    );
    const nested = { type: 'bulletList', content: [{ type: 'listItem', content: [list] }] };
    expect(isMarkup({ type: 'doc', content: [nested] })).toBe(false);
  });

  it('can be converted to plain text', () => {
    expect(wordsOf({ type: 'paragraph', content: [text('a '), text('b')] })).toBe('a b');
  });
});
