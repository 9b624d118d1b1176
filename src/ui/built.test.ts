/** The applications that are served are those that these sources give. */
import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { type ApplicationName, applications, buildApplication, builtFile } from './build.ts';

const mostBytes = 150 * 1024;

describe.each(Object.keys(applications) as ApplicationName[])('the application %s', (name) => {
  it('is kept as it is built: `make ui` builds it anew', async () => {
    const { script, style, licences } = await buildApplication(name);
    // Compared apart from what is shown: half a megabyte of difference helps nobody.
    expect(readFileSync(builtFile(name, 'app.js'), 'utf8') === script).toBe(true);
    expect(readFileSync(builtFile(name, 'app.css'), 'utf8')).toBe(style);
    expect(readFileSync(builtFile(name, 'licences.txt'), 'utf8')).toBe(licences);
    expect(licences).toMatch(/^\* react-dom 19/m);
  });

  it('asks no other address for anything, and is small', async () => {
    const { script, style } = await buildApplication(name);
    expect(style).not.toMatch(/url\(|@import/);
    expect(script).not.toMatch(/import\s*\(|from\s*["']https?:/);
    expect(gzipSync(script).length + gzipSync(style).length).toBeLessThan(mostBytes);
  });
});
