/**
 * Application of every generated page, built from `src/ui` and committed beside this file. It is not built where a
 * world is compiled. So a world's page has the same bytes everywhere, and compiling needs neither the application's
 * packages nor its build tools. `make ui` rebuilds it; `src/ui/built.test.ts` checks that it matches the sources.
 */
import { readFileSync } from 'node:fs';

const read = (name: string): Uint8Array => readFileSync(new URL(`built/${name}`, import.meta.url));

/** Files of the application; `licences` are those of the packages in it, which are distributed with it. */
export type Application = Record<'script' | 'style' | 'licences', Uint8Array>;

let application: Application | undefined;

/** Returns the files as bytes; they are read when a world first needs them. */
export const readApplication = (): Application => {
  application ??= {
    script: read('app.js'),
    style: read('app.css'),
    licences: read('licences.txt'),
  };
  return application;
};
