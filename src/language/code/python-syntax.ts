/**
 * Mistakes of syntax and names that are defined nowhere, found by Ruff, whose parser reads what CPython reads. It is
 * WebAssembly: it needs no Python and runs nothing of the file.
 */
import { createRequire } from 'node:module';
import type { Diagnostic, Workspace } from '@astral-sh/ruff-wasm-nodejs';
import { isOverflow } from './overflow.ts';
import { type CodeFault, syntaxFault } from './reading.ts';

/** `break` outside of a loop and the like, and names that are defined nowhere (F821). */
const rules = ['F701', 'F702', 'F704', 'F706', 'F707', 'F821'];
/** The version that hosts run. */
const settings = { 'target-version': 'py313', lint: { select: rules } };

const require = createRequire(import.meta.url);
const moduleName = '@astral-sh/ruff-wasm-nodejs';

let linter: Workspace | undefined;

/** Made with the first file, as it takes some 100 ms. */
const openLinter = (): Workspace => {
  const ruff = require(moduleName) as typeof import('@astral-sh/ruff-wasm-nodejs');
  linter ??= new ruff.Workspace(settings, ruff.PositionEncoding.Utf16);
  return linter;
};

/** After an overflow the module's own stack is not what it was: the next file gets a new one. */
const dropLinter = (): void => {
  linter = undefined;
  delete require.cache[require.resolve(moduleName)];
};

const undefinedName = (message: string): string => /`(.*)`/.exec(message)?.[1] ?? message;

const faultOf = ({ code, message, start_location: { row, column } }: Diagnostic): CodeFault => {
  const at = { line: row, column };
  if (code !== 'F821') return syntaxFault(at, `not valid Python: ${message}`);
  return { ...at, code: 'unknown_name', message: `"${undefinedName(message)}" is not defined` };
};

/** The mistakes of a file, in its order; undefined for one that nests too deeply to be read. */
export const pythonFaults = (text: string): CodeFault[] | undefined => {
  try {
    const found = openLinter().check(text) as Diagnostic[];
    return found.map(faultOf).sort((a, b) => a.line - b.line || a.column - b.column);
  } catch (error) {
    if (!isOverflow(error)) throw error;
    dropLinter();
    return undefined;
  }
};
