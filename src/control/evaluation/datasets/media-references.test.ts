import { expect, it } from 'vitest';
import { referencesIn } from './media-references.ts';

const reference = (id: string) => `@@@langfuseMedia:type=image/png|id=${id}|source=bytes@@@`;
const found = (value: unknown) =>
  referencesIn(JSON.stringify(value)).map(({ mediaId, jsonPath }) => [mediaId, jsonPath]);

it('media references are found with the JSON paths that Langfuse SDKs read', () => {
  expect(found(reference('a'))).toEqual([['a', '$']]);
  expect(found({ image: reference('a-_9'), list: [1, { "it's": reference('b') }] })).toEqual([
    ['a-_9', "$['image']"],
    ['b', "$['list'][1]['it's']"],
  ]);
  expect(found({ 7: reference('a'), constructor: reference('b') })).toEqual([
    ['a', '$[7]'],
    ['b', "$['constructor']"],
  ]);
});

it.each([
  ['within a longer text', `see ${reference('a')}`],
  ['without an id', '@@@langfuseMedia:type=image/png|source=bytes@@@'],
  ['as a name', { [reference('a')]: 1 }],
])('no media reference is found %s', (_, value) => {
  expect(found(value)).toEqual([]);
});

it('at most 100 media references are found in one field of an item', () => {
  expect(found(Array.from({ length: 200 }, (_, at) => reference(`m${at}`)))).toHaveLength(100);
  expect(referencesIn(null)).toEqual([]);
});
