/** Tests HAR files as browsers and proxies write them: the API's answers are found among all other entries. */
import { describe, expect, it } from 'vitest';
import { apiFromExchanges } from './from-exchanges.ts';
import { readHar } from './har.ts';

const people = '[{"id":1,"name":"Ann"}]';

const entryOf = (url: string, content: object = { text: people }, status = 200): object => ({
  startedDateTime: '2026-11-20T10:00:00Z',
  request: { method: 'GET', url, headers: [] },
  response: {
    status,
    headers: [{ name: 'Content-Type', value: 'application/json' }],
    content: { mimeType: 'application/json', ...content },
  },
});

const good = entryOf('https://api.odd.example/people');
const harOf = (...entries: unknown[]): unknown => ({ log: { entries } });
const base64 = (text: string): string => Buffer.from(text).toString('base64');

describe('a HAR file', () => {
  it.each([
    'wss://api.odd.example/socket',
    'chrome-extension://aapbdbdomjkkjkaonfhkkikfgjllcleb/page.json',
    'data:application/json,%5B%5D',
    'blob:https://api.odd.example/5f0c',
    'about:blank',
  ])('is read without its entry of %s, and refused if it has no other entry', (url) => {
    const other = entryOf(url, { text: '[]' }, url.startsWith('wss') ? 101 : 200);
    const { api } = apiFromExchanges(readHar(harOf(other, good), 'c.har'));
    expect(api.baseUrl).toBe('https://api.odd.example');
    expect(api.routes.map(({ name }) => name)).toEqual(['get_people']);
    expect(() => readHar(harOf(other), 'c.har')).toThrow(
      'c.har contains no answered request to an API',
    );
  });

  it("is read without requests to a host whose address only begins with the API's address", () => {
    const other = entryOf('https://api.odd.example.evil.test/people', { text: '[{"id":2}]' });
    const { api } = apiFromExchanges(readHar(harOf(good, good, other), 'c.har'));
    expect(api.routes[0]?.examples).toEqual([JSON.parse(people), JSON.parse(people)]);
  });

  it.each([
    ['base64', { encoding: 'base64', text: base64(people) }],
    ['base64 in lines', { encoding: 'base64', text: base64(people).replace(/(.{8})/g, '$1\r\n') }],
    ['base64 without its end', { encoding: 'base64', text: base64(people).replace(/=+$/, '') }],
    ['plain text that is named base64', { encoding: 'base64', text: people }],
    ['text with a byte order mark', { text: `\ufeff${people}` }],
    ['base64 of such a text', { encoding: 'base64', text: base64(`\ufeff${people}`) }],
  ])('may contain an answer as %s', (_, content) => {
    const [seen] = readHar(harOf(entryOf('https://api.odd.example/people', content)), 'c.har');
    expect(seen?.body).toEqual(JSON.parse(people));
  });

  it('may contain plain JSON that is labelled base64 and consists of base64 characters', () => {
    const content = { encoding: 'base64', text: '1234' };
    const [seen] = readHar(harOf(entryOf('https://api.odd.example/n', content)), 'c.har');
    expect(seen?.body).toBe(1234);
  });
});
