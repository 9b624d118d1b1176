import { expect, it } from 'vitest';
import { decodeHeader, encodeHeader, repeatedName } from './mcp-revisions.ts';

it.each([
  ['us-west1', 'us-west1'],
  ['a b', 'a b'],
  ['Hello, 世界', '=?base64?SGVsbG8sIOS4lueVjA==?='],
  [' padded ', '=?base64?IHBhZGRlZCA=?='],
  ['line1\nline2', '=?base64?bGluZTEKbGluZTI=?='],
  ['=?base64?bGl0ZXJhbA==?=', '=?base64?PT9iYXNlNjQ/YkdsMFpYSmhiQT09Pz0=?='],
  ['', '=?base64??='],
])('encodeHeader encodes %j, and decodeHeader decodes it again', (text, header) => {
  expect(encodeHeader(text)).toBe(header);
  expect(decodeHeader(header)).toBe(text);
});

it('repeatedName returns the parameter that `Mcp-Name` repeats, for methods that have one', () => {
  expect(repeatedName({ method: 'tools/call', params: { name: 'a' } })).toBe('a');
  expect(repeatedName({ method: 'resources/read', params: { uri: 'b' } })).toBe('b');
  expect(repeatedName({ method: 'tools/call', params: { name: 7 } })).toBeUndefined();
  expect(repeatedName({ method: 'constructor', params: { name: 'a' } })).toBeUndefined();
  expect(repeatedName({ method: 'tools/list' })).toBeUndefined();
});
