/**
 * Reads the application of every generated page, which is built from `src/ui` and committed next to this file. The
 * application is not built where a world is compiled. So a world's page has the same bytes everywhere, and compiling
 * needs neither the application's packages nor its build tools. `make ui` rebuilds the application;
 * `src/ui/built.test.ts` checks that it matches the sources.
 */
import { readFileSync } from 'node:fs';

const read = (name: string): Uint8Array => readFileSync(new URL(`built/${name}`, import.meta.url));

/** Files of the application; `licences` has the licences of the packages in it, which are distributed with it. */
export type Application = Record<'script' | 'style' | 'licences', Uint8Array>;

let application: Application | undefined;

/** Returns the application's files as bytes. They are read when a world first needs them. */
export const readApplication = (): Application => {
  application ??= {
    script: read('app.js'),
    style: read('app.css'),
    licences: read('licences.txt'),
  };
  return application;
};
