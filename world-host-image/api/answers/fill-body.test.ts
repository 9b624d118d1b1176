import { describe, expect, it } from 'vitest';
import { fillBody, type Wrong } from './fill-body.ts';

const json = 'application/json';
const title: Wrong = { param: 'input.title', field: 'title', message: 'is missing' };
const rank: Wrong = { param: 'rank', field: 'rank', message: 'must be number' };
const row: Wrong = { param: null, field: null, message: 'the body must be an object' };

describe('placeholders in JSON', () => {
  it.each<[string, string, Wrong[], string]>([
    ['are filled within texts', '{"m":"{field} {message}"}', [title], '{"m":"title is missing"}'],
    ['stand for the first of several', '{"p":"{param}"}', [rank, title], '{"p":"rank"}'],
    ['alone in a text are null for nothing', '{"p":"{param}"}', [row], '{"p":null}'],
    ['within a text are empty for nothing', '{"p":"[{param}]"}', [row], '{"p":"[]"}'],
    [
      'in the only item of a list make an item of each',
      '{"errors":[{"field":"{field}","code":"no"}]}',
      [title, rank],
      '{"errors":[{"field":"title","code":"no"},{"field":"rank","code":"no"}]}',
    ],
    ['in one of two items repeat none', '["x","{field}"]', [title, rank], '["x","title"]'],
    [
      'in the name of a member make a member of each, with all that is wrong there',
      '{"errors":{"{field}":["{message}"]}}',
      [title, { ...title, message: 'is short' }, rank],
      '{"errors":{"title":["is missing","is short"],"rank":["must be number"]}}',
    ],
    [
      'of a parameter that is no field are its name',
      '{"f":"{field}"}',
      [{ param: 'limit', field: null, message: 'must be 1' }],
      '{"f":"limit"}',
    ],
    ['of other names are texts', '{"m":"{name}"}', [title], '{"m":"{name}"}'],
  ])('%s', (_, body, wrongs, filled) => {
    expect(fillBody(body, json, wrongs)).toBe(filled);
  });

  it('are filled with data that neither ends its text nor is filled again', () => {
    const hostile: Wrong = { param: '"},{param}', field: '__proto__', message: '{field}$&' };
    const body = '{"p":"{param}","m":"{message}","of":{"{field}":1}}';
    expect(fillBody(body, json, [hostile])).toBe(
      '{"p":"\\"},{param}","m":"{field}$&","of":{"__proto__":1}}',
    );
  });

  it('leave a body without placeholders as it was written', () => {
    expect(fillBody('{ "message" : "No" }', json, [title])).toBe('{ "message" : "No" }');
  });
});

it('placeholders in markup are filled with escaped text', () => {
  const hostile: Wrong = { param: null, field: 'a<b', message: 'is "no" & <none>' };
  expect(fillBody('<e f="{field}">{message}</e>', 'application/xml', [hostile])).toBe(
    '<e f="a&lt;b">is &quot;no&quot; &amp; &lt;none&gt;</e>',
  );
  expect(fillBody('{field}: {message}', 'text/plain', [hostile])).toBe('a<b: is "no" & <none>');
});
