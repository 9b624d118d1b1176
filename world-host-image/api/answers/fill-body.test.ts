import { describe, expect, it } from 'vitest';
import { fillBody, type Wrong } from './fill-body.ts';

const json = 'application/json';
const title: Wrong = { param: 'input.title', field: 'title', message: 'is missing' };
const rank: Wrong = { param: 'rank', field: 'rank', message: 'must be number' };
const row: Wrong = { param: null, field: null, message: 'the body must be an object' };

describe('placeholders in a JSON body', () => {
  it.each<[string, string, Wrong[], string]>([
    ['are filled within texts', '{"m":"{field} {message}"}', [title], '{"m":"title is missing"}'],
    [
      'are filled from the first of several problems',
      '{"p":"{param}"}',
      [rank, title],
      '{"p":"rank"}',
    ],
    [
      'that are a whole text become null if the problem has no value',
      '{"p":"{param}"}',
      [row],
      '{"p":null}',
    ],
    [
      'within a text become empty if the problem has no value',
      '{"p":"[{param}]"}',
      [row],
      '{"p":"[]"}',
    ],
    [
      'in the only item of a list make one item for each problem',
      '{"errors":[{"field":"{field}","code":"no"}]}',
      [title, rank],
      '{"errors":[{"field":"title","code":"no"},{"field":"rank","code":"no"}]}',
    ],
    [
      'in one of two items of a list repeat no item',
      '["x","{field}"]',
      [title, rank],
      '["x","title"]',
    ],
    [
      'in the name of a member make one member for each field, with all problems of the field',
      '{"errors":{"{field}":["{message}"]}}',
      [title, { ...title, message: 'is short' }, rank],
      '{"errors":{"title":["is missing","is short"],"rank":["must be number"]}}',
    ],
    [
      'for the field are filled with the parameter if it is no field',
      '{"f":"{field}"}',
      [{ param: 'limit', field: null, message: 'must be 1' }],
      '{"f":"limit"}',
    ],
    ['with other names are left as they are', '{"m":"{name}"}', [title], '{"m":"{name}"}'],
  ])('%s', (_, body, wrongs, filled) => {
    expect(fillBody(body, json, wrongs)).toBe(filled);
  });

  it('are filled with data that cannot end a JSON text, and whose own braces are not filled', () => {
    const hostile: Wrong = { param: '"},{param}', field: '__proto__', message: '{field}$&' };
    const body = '{"p":"{param}","m":"{message}","of":{"{field}":1}}';
    expect(fillBody(body, json, [hostile])).toBe(
      '{"p":"\\"},{param}","m":"{field}$&","of":{"__proto__":1}}',
    );
  });

  it('may be absent, and the body is then unchanged', () => {
    expect(fillBody('{ "message" : "No" }', json, [title])).toBe('{ "message" : "No" }');
  });
});

it('placeholders in XML or HTML are filled with escaped text', () => {
  const hostile: Wrong = { param: null, field: 'a<b', message: 'is "no" & <none>' };
  expect(fillBody('<e f="{field}">{message}</e>', 'application/xml', [hostile])).toBe(
    '<e f="a&lt;b">is &quot;no&quot; &amp; &lt;none&gt;</e>',
  );
  expect(fillBody('{field}: {message}', 'text/plain', [hostile])).toBe('a<b: is "no" & <none>');
});
