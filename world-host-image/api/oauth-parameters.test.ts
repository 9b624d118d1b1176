import { expect, it } from 'vitest';
import { clientSecrets, readParameters } from './oauth-parameters.ts';

const form = 'application/x-www-form-urlencoded';
const read = (type: string, text: string): unknown => {
  const parameters = readParameters(type, text);
  return parameters instanceof Map ? Object.fromEntries(parameters) : parameters;
};

it('parameters of token requests are read from forms and JSON, and empty ones count as missing', () => {
  const expected = { grant_type: 'client_credentials', scope: 'a b' };
  const cases: [string, string][] = [
    [form, 'grant_type=client_credentials&scope=a+b&client_id='],
    [`${form}; charset=utf-8`, 'grant_type=client_credentials&scope=a%20b'],
    ['', 'grant_type=client_credentials&scope=a%20b'],
    ['application/json', '{"grant_type":"client_credentials","scope":"a b","client_id":null}'],
    ['Application/vnd.api+json; charset=utf-8', JSON.stringify(expected)],
  ];
  for (const [type, text] of cases) expect([type, read(type, text)]).toEqual([type, expected]);
});

it('token requests with unreadable parameters are refused with the reason', () => {
  const cases: [string, string, string][] = [
    [form, 'scope=a&scope=b', 'a parameter is there twice'],
    ['application/json', '{"scope":["a"]}', 'a parameter is not a text'],
    ['application/json', '{"scope"', 'the body is not a JSON object'],
    ['application/json', '[]', 'the body is not a JSON object'],
    ['text/plain', 'grant_type=client_credentials', 'the body is neither a form nor JSON'],
  ];
  for (const [type, text, error] of cases) expect(read(type, text)).toEqual({ error });
});

const basic = (text: string): string => `Basic ${Buffer.from(text).toString('base64')}`;

it('the client’s secret is found in a Basic header, form-encoded or not, or in the body', () => {
  const body = new Map([['client_secret', 's']]);
  expect(clientSecrets(basic('id:a+b%2B'), new Map())).toEqual(['a+b%2B', 'a b+']);
  expect(clientSecrets(basic('id:a%'), new Map())).toEqual(['a%']);
  expect(clientSecrets(basic('id'), new Map())).toEqual([]);
  expect(clientSecrets('', body)).toEqual(['s']);
  expect(clientSecrets('Bearer x', body)).toEqual(['s']);
  expect(clientSecrets('', new Map())).toEqual([]);
  expect(clientSecrets(basic('id:s'), body)).toHaveProperty('error');
});
