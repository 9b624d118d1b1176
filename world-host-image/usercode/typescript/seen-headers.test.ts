import { inspect } from 'node:util';
import { expect, it } from 'vitest';
import { watchHeaders } from './seen-headers.ts';

const given = () => watchHeaders({ accept: 'text/html', 'x-mark': '7' });

it('reads of headers are recorded, whether or not the headers are present', () => {
  const { headers, seen } = given();
  expect([headers.accept, 'x-none' in headers, Object.hasOwn(headers, 'x-mark')]).toEqual([
    'text/html',
    false,
    true,
  ]);
  expect(seen()).toEqual(['accept', 'x-mark', 'x-none']);
});

it('iteration over headers and changes to them count as reads of all', () => {
  for (const use of [
    (headers: Record<string, string>) => ({ ...headers }),
    (headers: Record<string, string>) => JSON.stringify(headers),
    (headers: Record<string, string>) => Object.entries(headers),
  ]) {
    const { headers, seen } = given();
    expect(JSON.stringify(use(headers))).toContain('text/html');
    expect(seen()).toBe('all');
  }
  const { headers, seen } = given();
  headers['x-mark'] = '8';
  delete headers.accept;
  expect([{ ...headers }, seen()]).toEqual([{ 'x-mark': '8' }, 'all']);
});

it('inspecting the proxy does not reveal headers without recording a read', () => {
  const { headers, seen } = given();
  expect(inspect(headers)).not.toContain('text/html');
  expect(seen()).toEqual([]);
});
