/**
 * The script of the generated page: the modules of browser/ put together to one classic script, as a
 * page under its policy loads nothing. They are read as they stand, neither built nor minified, so that a
 * world's page has the same bytes wherever it is compiled. Types and lint see them as modules; so no two
 * may use one name at their top.
 */
import { readFileSync } from 'node:fs';

/** Each behind those that it imports. */
const modules = ['logic', 'show', 'forms', 'view'];

const imports = /^import [^;]*;\n/gm;
const exports = /^export (?=const )/gm;

const textOf = (name: string): string =>
  readFileSync(new URL(`browser/${name}.js`, import.meta.url), 'utf8')
    .replaceAll(imports, '')
    .replaceAll(exports, '');

export const pageScript = `"use strict";\n${modules.map(textOf).join('\n')}`;
