import { expect, it } from 'vitest';
import { maskText } from './mask.ts';

it('hides secrets in JSON text, also where it is cut off', () => {
  const text = JSON.stringify({ token: 'a"b', title: 'my token: abc', nested: { password: 'x' } });
  expect(JSON.parse(maskText(text))).toEqual({
    token: '***',
    title: 'my token: abc',
    nested: { password: '***' },
  });
  expect(maskText('[{"secret":"abc')).toBe('[{"secret":"***"');
});
