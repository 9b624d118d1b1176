import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { expect, it } from 'vitest';
import { readToken } from './token.ts';

it('the token is the first line of standard input, which is then closed', async () => {
  const input = new PassThrough();
  const reading = readToken('-', () => input);
  input.write('hst-1.');
  input.write('abc\nand more');
  expect((await reading).reveal()).toBe('hst-1.abc');
  expect(input.destroyed).toBe(true);
});

it('the token is the content of the file at the given path', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-token-'));
  writeFileSync(join(folder, 'token'), 'hst-1.abc\n');
  expect((await readToken(join(folder, 'token'))).reveal()).toBe('hst-1.abc');
  rmSync(folder, { recursive: true });
});

it('standard input without a token is refused with a message that names standard input', async () => {
  const input = new PassThrough();
  input.end();
  await expect(readToken('-', () => input)).rejects.toThrow('no token on standard input');
});
