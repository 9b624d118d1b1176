/** Generated pages are current: `make docs` would write the same. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { accessPage } from '../../tools/docs/access-page.ts';
import { chartPage } from '../../tools/docs/chart-page.ts';
import { architecturePage } from '../../tools/docs/floors-page.ts';
import { keysPage } from '../../tools/docs/keys-page.ts';
import { licencesPage } from '../../tools/docs/licences.ts';
import { problemsPage } from '../../tools/docs/problems-page.ts';
import { screens, takeScreen } from '../../tools/docs/screens.ts';

const written = (name: string): string =>
  readFileSync(new URL(`../../docs/${name}`, import.meta.url), 'utf8');

describe('docs', () => {
  it('keys.md is current (else run make docs)', () => {
    expect(written('write-worlds/keys.md')).toBe(keysPage());
  });

  it('access.md is current (else run make docs)', () => {
    expect(written('use/access.md')).toBe(accessPage());
  });

  it('problems.md is current (else run make docs)', () => {
    expect(written('write-worlds/problems.md')).toBe(problemsPage());
  });

  it('the pictures of architecture.md are current (else run make docs)', () => {
    expect(written('internals/architecture.md')).toBe(architecturePage());
  });

  it('the README of the chart is current (else run make docs)', () => {
    expect(written('../charts/svc/README.md')).toBe(chartPage());
  });

  it('licences.md is current (else run make docs)', async () => {
    expect(written('internals/licences.md')).toBe(await licencesPage());
  });

  it.each(Object.entries(screens))(
    'screens/%s.svg is current (else run make docs)',
    async (name, screen) => {
      expect(written(`write-worlds/screens/${name}.svg`)).toBe(await takeScreen(screen));
    },
  );
});
