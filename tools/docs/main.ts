/** `make docs`: writes the pages that are generated from the code and from running it. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { accessPage } from './access-page.ts';
import { chartPage } from './chart-page.ts';
import { architecturePage } from './floors-page.ts';
import { keysPage } from './keys-page.ts';
import { licencesPage } from './licences.ts';
import { problemsPage } from './problems-page.ts';
import { screens, takeScreen } from './screens.ts';

const docs = fileURLToPath(new URL('../../docs/', import.meta.url));

mkdirSync(`${docs}write-worlds/screens`, { recursive: true });
writeFileSync(`${docs}internals/architecture.md`, architecturePage());
writeFileSync(`${docs}use/access.md`, accessPage());
writeFileSync(`${docs}write-worlds/keys.md`, keysPage());
writeFileSync(`${docs}write-worlds/problems.md`, problemsPage());
writeFileSync(`${docs}../charts/svc/README.md`, chartPage());
writeFileSync(`${docs}internals/licences.md`, await licencesPage());
for (const [name, screen] of Object.entries(screens)) {
  writeFileSync(`${docs}write-worlds/screens/${name}.svg`, await takeScreen(screen));
}
