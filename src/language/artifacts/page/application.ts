/**
 * The application that every generated page is, as it was built from `src/ui` and is kept beside this file. It is
 * kept built, and not built where a world is compiled: so a world's page has the same bytes wherever it is compiled,
 * and whoever compiles needs neither the application's packages nor what builds it. `make ui` builds it anew, and
 * `src/ui/built.test.ts` holds that it is what the sources give.
 */
import { readFileSync } from 'node:fs';

const read = (name: string): Uint8Array => readFileSync(new URL(`built/${name}`, import.meta.url));

/** `licences` are those of the packages that it was built from, which are passed on with it. */
export type Application = Record<'script' | 'style' | 'licences', Uint8Array>;

let application: Application | undefined;

/** Its files as bytes; read when a world first needs them. */
export const readApplication = (): Application => {
  application ??= {
    script: read('app.js'),
    style: read('app.css'),
    licences: read('licences.txt'),
  };
  return application;
};
