/** The application that the compiler writes into worlds is the one that these sources give. */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { buildApplication, builtFile } from './build.ts';

it('is kept as it is built: `make ui` builds it anew', async () => {
  const { script, style, licences } = await buildApplication();
  // Compared apart from what is shown: half a megabyte of difference helps nobody.
  expect(readFileSync(builtFile('app.js'), 'utf8') === script).toBe(true);
  expect(readFileSync(builtFile('app.css'), 'utf8')).toBe(style);
  expect(readFileSync(builtFile('licences.txt'), 'utf8')).toBe(licences);
  expect(licences).toMatch(/^\* react-dom 19/m);
});

it('asks no other address for anything', async () => {
  const { script, style } = await buildApplication();
  expect(style).not.toMatch(/url\(|@import/);
  expect(script).not.toMatch(/import\s*\(|from\s*["']https?:/);
});
