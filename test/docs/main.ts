/** `make docs`: writes the pages that are made from the code and from running it. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { chartPage } from './chart-page.ts';
import { architecturePage } from './floors-page.ts';
import { licencesPage } from './licences.ts';
import { problemsPage } from './problems-page.ts';
import { screens, takeScreen } from './screens.ts';

const docs = fileURLToPath(new URL('../../docs/', import.meta.url));

mkdirSync(`${docs}screens`, { recursive: true });
writeFileSync(`${docs}architecture.md`, architecturePage());
writeFileSync(`${docs}problems.md`, problemsPage());
writeFileSync(`${docs}../charts/svc/README.md`, chartPage());
writeFileSync(`${docs}licences.md`, await licencesPage());
for (const [name, screen] of Object.entries(screens)) {
  writeFileSync(`${docs}screens/${name}.svg`, await takeScreen(screen));
}
