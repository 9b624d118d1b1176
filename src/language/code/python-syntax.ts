/**
 * Finds syntax errors and undefined names in Python with Ruff, whose parser accepts what CPython accepts. Ruff is a
 * WebAssembly module here: it needs no Python and does not run the file.
 */
import { createRequire } from 'node:module';
import { setFlagsFromString } from 'node:v8';
import type { Diagnostic, Workspace } from '@astral-sh/ruff-wasm-nodejs';
import { isOverflow } from './overflow.ts';
import { type CodeFault, syntaxFault } from './reading.ts';

/**
 * Rules for misplaced statements such as `break` outside a loop, for code that cannot be compiled, and for undefined
 * names (F821).
 */
const rules = [
  ...['F404', 'F406', 'F407', 'F622', 'F701', 'F702', 'F704', 'F706', 'F707', 'F821'],
  ...['PLE0117', 'PLE0118', 'PLE1142'],
];
/** Settings of Ruff, with the version of Python on hosts. */
const settings = { 'target-version': 'py313', lint: { select: rules } };

const require = createRequire(import.meta.url);
const moduleName = '@astral-sh/ruff-wasm-nodejs';

let linter: Workspace | undefined;

/**
 * Flags that stop V8 from optimising WebAssembly. V8 derives the last two from the first only when it starts, so all
 * three are set.
 */
const unoptimized = ['--liftoff-only', '--no-wasm-tier-up', '--no-wasm-dynamic-tiering'];

/**
 * Loads Ruff for the first file, which takes some 100 ms. V8 must not optimise Ruff: that would take 3 s of CPU time,
 * more than the check of any tree.
 */
const openLinter = (): Workspace => {
  if (linter === undefined) for (const flag of unoptimized) setFlagsFromString(flag);
  const ruff = require(moduleName) as typeof import('@astral-sh/ruff-wasm-nodejs');
  linter ??= new ruff.Workspace(settings, ruff.PositionEncoding.Utf16);
  return linter;
};

/** Unloads Ruff after a stack overflow, which leaves the module's own stack in an unknown state. */
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

/** Comments that make Ruff skip a line or the file. They are masked, because authors must not disable this check. */
const silencing = /#\s*(?:(?:ruff|flake8)\s*:\s*)?noqa/gi;

/** Returns the faults of a file in reading order; undefined if it nests too deeply to be parsed. */
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
