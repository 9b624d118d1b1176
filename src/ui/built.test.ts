/** Tests that the committed applications are identical to those built from the sources. */
import { readdirSync, readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { applicationNames, buildApplication, builtFile } from './build.ts';

const mostBytes = 150_000;

describe.each(applicationNames)('the application %s', (name) => {
  it('equals what `make ui` builds from its sources', async () => {
    const files = await buildApplication(name);
    const same = Object.entries(files)
      .filter(([file, text]) => readFileSync(builtFile(name, file), 'utf8') === text)
      .map(([file]) => file);
    // Only the names are compared, because a diff of half a megabyte helps no reader.
    expect(same).toEqual(Object.keys(files));
    expect(readdirSync(builtFile(name, '')).toSorted()).toEqual(Object.keys(files).toSorted());
    expect(files['licences.txt']).toMatch(/^\* react-dom 19/m);
  });

  it('sends requests to no other address, and is small', async () => {
    const { 'licences.txt': _, ...files } = await buildApplication(name);
    expect(files['app.css']).not.toMatch(/url\(|@import/);
    expect(files['app.js']).not.toMatch(/import\s*\(|from\s*["']https?:/);
    const sizes = Object.values(files).map((text) => gzipSync(text).length);
    expect(sizes.reduce((sum, size) => sum + size)).toBeLessThan(mostBytes);
  });
});
