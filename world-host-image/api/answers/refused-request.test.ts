/**
 * Requests that the server could not read: they are answered in the shape of `invalid`, with a message and status of
 * their own.
 */
import { afterEach, expect, it } from 'vitest';
import {
  type ApiClient,
  type Asked,
  notesUpTo,
  operation,
  serveApi,
} from '#test/support/worlds/api-world.ts';

let api: ApiClient;
afterEach(() => api?.stop());

const serve = async (invalid: string, more = ''): Promise<void> => {
  api = await serveApi({
    api: `invalid = '${invalid}'\ninvalid_status = 422\n${more}`,
    operations: operation('POST', '/notes', 'action = "create"') + operation('GET', '/notes/{id}'),
    notes: notesUpTo(1),
  });
};

const words =
  '{"message":"Validation Failed","errors":[],"url":"https://x.example","status":"422"}';
const large = { id: 2, title: 'x'.repeat(2 * 1024 * 1024) };
const packed = { 'content-encoding': 'gzip' };

it.each<[string, number, string, Asked & { method?: string; path?: string }]>([
  ['broken JSON', 400, 'The body is not JSON', { body: '{"id":' }],
  ['a body that is not UTF-8', 400, 'The body is not UTF-8', { body: Buffer.from([0xff, 0xfe]) }],
  ['a body over the limit', 413, 'The body is over the limit of 1 MiB', { body: large }],
  [
    'a compressed body',
    415,
    'A body encoded as gzip is not understood',
    { body: '{}', headers: packed },
  ],
  ['a method that the path lacks', 405, 'The path does not take PUT', { method: 'PUT' }],
  [
    'a malformed path',
    400,
    'The path has an invalid percent-escape',
    { method: 'GET', path: '/notes/%zz' },
  ],
])(
  'a request with %s is answered with its own message and status',
  async (_, status, message, { method = 'POST', path = '/notes', ...asked }) => {
    await serve(words);
    const answer = await api.ask(method, path, asked);
    expect([answer.status, answer.json]).toEqual([
      status,
      { message, errors: [], url: 'https://x.example', status: String(status) },
    ]);
  },
);

it('a row that the contract refuses is answered with the vendor’s `invalid` error, unchanged', async () => {
  await serve(words);
  const answer = await api.ask('POST', '/notes', { body: { id: 2, title: '' } });
  expect([answer.status, answer.text]).toEqual([422, words]);
});

it.each([
  [
    '{"error":{"code":422,"message":"No"}}',
    '{"error":{"code":400,"message":"The body is not JSON"}}',
  ],
  [
    '{"errors":[{"detail":"No","code":"E1"}]}',
    '{"errors":[{"detail":"The body is not JSON","code":"E1"}]}',
  ],
  ['{"error":"invalid"}', '{"error":"invalid"}'],
  ['["no"]', '["no"]'],
  ['', ''],
])(
  'a request that cannot be read is answered with its own message in an `invalid` body like %s',
  async (invalid, expected) => {
    await serve(invalid);
    const answer = await api.ask('POST', '/notes', { body: '{' });
    expect([answer.status, answer.text]).toEqual([400, expected]);
  },
);

it('a vendor’s error body that is not JSON is sent unchanged', async () => {
  await serve('<bad>message</bad>', 'error_content_type = "application/xml"');
  const answer = await api.ask('POST', '/notes', { body: '{' });
  expect([answer.status, answer.text]).toEqual([400, '<bad>message</bad>']);
});
