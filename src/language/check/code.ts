/**
 * Checks the code of a world without running it: its syntax, its imports, and the entities and context members that it
 * names.
 */
import { ledgerEntity } from '#domain/ledger.ts';
import { leftOutFolder } from '#domain/tree-path.ts';
import { type AuthorModules, pythonModules, typescriptModules } from '../code/author-modules.ts';
import { importFaults, type OwnFiles } from '../code/imports.ts';
import { readPython } from '../code/python.ts';
import type { CodeFault, CodeReading, ContextKind } from '../code/reading.ts';
import { readTypescript } from '../code/typescript.ts';
import { suggestName } from '../read/suggest.ts';
import type { Tree } from '../read/tree.ts';

/** Facts about the code that further checks use. */
export type CodeOfTree = {
  /** Returns true if a file exists and cannot be parsed, so that its functions are unknown. */
  isUnreadable(path: string): boolean;
};

/** Folders that contain code, besides the top of the tree. */
const codeFolders = /^(?:api|tests|scenarios|checks)\//;

const isChecked = (path: string, handlers: string | undefined): boolean => {
  if (!/\.(?:py|ts)$/.test(path) || path.endsWith('.d.ts')) return false;
  if (leftOutFolder(path) !== undefined) return false;
  const home = handlers?.slice(0, handlers.lastIndexOf('/') + 1) ?? '';
  return !path.includes('/') || codeFolders.test(path) || (home !== '' && path.startsWith(home));
};

const contextOf = (path: string, handlers: string | undefined): ContextKind | undefined => {
  if (path.endsWith('checks/verify.py')) return 'verify';
  return path === handlers || path.startsWith('api/') ? 'handler' : undefined;
};

const readCode = (path: string, text: string, handlers: string | undefined): CodeReading => {
  const read = path.endsWith('.py') ? readPython : readTypescript;
  return read(text, { context: contextOf(path, handlers) });
};

const modulesOf = (path: string): AuthorModules =>
  path.endsWith('.py') ? pythonModules : typescriptModules;

const memberFaults = (
  path: string,
  { members }: CodeReading,
  added: ReadonlySet<string>,
): CodeFault[] =>
  members.flatMap(({ name, context, line, column }) => {
    const known = modulesOf(path).members[context];
    if (known.has(name) || added.has(name) || name in {} || name.startsWith('__')) return [];
    const message = `the context of a ${context === 'verify' ? 'grader' : 'handler'} has no "${name}"`;
    const hint = suggestName(name, known);
    return [
      { line, column, code: 'unknown_member', message, ...(hint === undefined ? {} : { hint }) },
    ];
  });

const entityFaults = ({ entities }: CodeReading, known: ReadonlySet<string>): CodeFault[] =>
  entities.flatMap(({ name, line, column }) => {
    if (known.has(name) || name === ledgerEntity) return [];
    const message = `the world has no entity "${name}"`;
    const hint = suggestName(name, known);
    return [
      { line, column, code: 'unknown_entity', message, ...(hint === undefined ? {} : { hint }) },
    ];
  });

/** Reports the faults of all code. `entities` is undefined if the data model has problems. */
export const checkCode = (
  tree: Tree,
  {
    handlers,
    entities,
  }: { handlers: string | undefined; entities: ReadonlySet<string> | undefined },
): CodeOfTree => {
  const readings = new Map<string, CodeReading>();
  for (const path of tree.paths('')) {
    const text = isChecked(path, handlers) ? tree.text(path) : undefined;
    if (text !== undefined) readings.set(path, readCode(path, text, handlers));
  }
  const own: OwnFiles = {
    has: (path) => tree.has(path),
    offers: (path) => readings.get(path)?.offers,
    paths: () => tree.paths(''),
  };
  const added = new Set([...readings.values()].flatMap(({ adds }) => [...adds]));
  for (const [path, reading] of readings) {
    const found = [
      ...reading.faults,
      ...reading.imports.flatMap((taken) => importFaults(path, taken, own)),
      ...memberFaults(path, reading, added),
      ...(entities === undefined ? [] : entityFaults(reading, entities)),
    ];
    for (const fault of found) tree.problems.add({ file: path, pointer: '', ...fault });
  }
  const isUnreadable = ({ faults }: CodeReading): boolean =>
    faults.some(({ code }) => code === 'syntax' || code === 'too_deep');
  return {
    isUnreadable(path) {
      const reading = readings.get(path);
      return reading !== undefined && isUnreadable(reading);
    },
  };
};
