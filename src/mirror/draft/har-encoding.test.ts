/** Tests JSON in HAR files: plain, base64, plain but labelled base64, and after byte order marks. */
import { expect, it } from 'vitest';
import { readHar } from './har.ts';

const people = '{"people":[{"id":1,"name":"Ann"}]}';

const harOf = (content: object) => ({
  log: {
    entries: [
      {
        startedDateTime: '2026-01-01T00:00:00Z',
        request: { method: 'GET', url: 'https://api.example/people', headers: [] },
        response: { status: 200, headers: [], content },
      },
    ],
  },
});

it.each([
  ['plain', { text: people }],
  ['plain, behind a byte order mark', { text: `\ufeff${people}` }],
  ['base64', { encoding: 'base64', text: Buffer.from(people).toString('base64') }],
  [
    'base64 of a text behind a byte order mark',
    { encoding: 'base64', text: Buffer.from(`\ufeff${people}`).toString('base64') },
  ],
  ['plain though it is called base64', { encoding: 'base64', text: people }],
])('readHar reads the JSON of an answer that is %s', (_, content) => {
  expect(readHar(harOf(content), 'a.har')).toMatchObject([{ body: JSON.parse(people) }]);
});

it.each(['true', 'null', '1234', '[]'])(
  'readHar does not decode the JSON %s, although it is labelled base64',
  (text) => {
    expect(readHar(harOf({ encoding: 'base64', text }), 'a.har')).toMatchObject([
      { body: JSON.parse(text) },
    ]);
  },
);
