/**
 * Finds mistakes of syntax and undefined names in Python by Ruff, whose parser accepts what CPython accepts. Ruff is
 * WebAssembly here: it needs no Python and does not run the file.
 */
import { createRequire } from 'node:module';
import { setFlagsFromString } from 'node:v8';
import type { Diagnostic, Workspace } from '@astral-sh/ruff-wasm-nodejs';
import { isOverflow } from './overflow.ts';
import { type CodeFault, syntaxFault } from './reading.ts';

/** Misplaced statements such as `break` outside of a loop, what cannot be compiled, and undefined names (F821). */
const rules = [
  ...['F404', 'F406', 'F407', 'F622', 'F701', 'F702', 'F704', 'F706', 'F707', 'F821'],
  ...['PLE0117', 'PLE0118', 'PLE1142'],
];
/** Hosts run this version of Python. */
const settings = { 'target-version': 'py313', lint: { select: rules } };

const require = createRequire(import.meta.url);
const moduleName = '@astral-sh/ruff-wasm-nodejs';

let linter: Workspace | undefined;

/** V8 derives the last two from the first at its start alone. */
const unoptimized = ['--liftoff-only', '--no-wasm-tier-up', '--no-wasm-dynamic-tiering'];

/**
 * Loads Ruff for the first file, which takes some 100 ms. V8 is to leave WebAssembly as it first compiles it: it would
 * optimize Ruff for 3 s of processor time, more than any tree takes to check.
 */
const openLinter = (): Workspace => {
  if (linter === undefined) for (const flag of unoptimized) setFlagsFromString(flag);
  const ruff = require(moduleName) as typeof import('@astral-sh/ruff-wasm-nodejs');
  linter ??= new ruff.Workspace(settings, ruff.PositionEncoding.Utf16);
  return linter;
};

/** Unloads Ruff after an overflow, which leaves the module's own stack in an unknown state. */
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

/** Comments that would have Ruff leave a line or the file out, which is not the author's to ask for here. */
const silencing = /#\s*(?:(?:ruff|flake8)\s*:\s*)?noqa/gi;

/** Returns the mistakes of a file in reading order; undefined if it nests too deeply to be parsed. */
export const pythonFaults = (text: string): CodeFault[] | undefined => {
  try {
    const found = openLinter().check(
      text.replace(silencing, (found) => '#'.padEnd(found.length)),
    ) as Diagnostic[];
    return found.map(faultOf).sort((a, b) => a.line - b.line || a.column - b.column);
  } catch (error) {
    if (!isOverflow(error)) throw error;
    dropLinter();
    return undefined;
  }
};
