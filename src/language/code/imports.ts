/**
 * Checks the imports of user code against the modules that hosts have: the language's standard library, `svc_env`, and
 * the world's own files.
 */
import { dirname, join } from 'node:path/posix';
import { nearestName, suggestName } from '../read/suggest.ts';
import { pythonModules, typescriptModules } from './author-modules.ts';
import { nodeModules } from './node-modules.ts';
import { isInPythonLibrary } from './python-library.ts';
import type { CodeFault, Import, NamedAt } from './reading.ts';

/** Files of the world that code may import. */
export type OwnFiles = {
  has(path: string): boolean;
  paths(): readonly string[];
  /** Returns the names that a file exports; undefined if they are unknown. */
  offers(path: string): ReadonlySet<string> | undefined;
};

const fault = ({ line, column }: NamedAt, message: string, hint?: string): CodeFault => ({
  ...{ line, column, code: 'unknown_import', message },
  ...(hint === undefined ? {} : { hint }),
});

/** Returns a fault for each imported name that the module does not export. */
const missingNames = (
  { name: module, takes }: Import,
  offers: ReadonlySet<string>,
  isElsewhere: (name: string) => boolean = () => false,
): CodeFault[] =>
  takes
    .filter(({ name }) => name !== '*' && !/^__\w+__$/.test(name) && !offers.has(name))
    .filter(({ name }) => !isElsewhere(name))
    .map((taken, index) => {
      const message = `${module} has no "${taken.name}"`;
      const nearest = index < mostHints ? nearestName(taken.name, offers) : undefined;
      return fault(taken, message, nearest && `did you mean "${nearest}"?`);
    });

/** Maximum number of faults of a file that get a hint, because the search for a hint compares every name. */
export const mostHints = 20;

const isTestCode = (path: string): boolean => /^(?:tests|scenarios)\//.test(path);

/** Returns the file or folder of a module, for the module's path without an extension. */
const pythonFile = (base: string, { has, paths }: OwnFiles): string | undefined => {
  const candidates = [`${base}.py`, `${base}/__init__.py`];
  const file = candidates.find(has);
  if (file !== undefined) return file;
  return paths().some((path) => path.startsWith(`${base}/`)) ? `${base}/` : undefined;
};

/** Returns the folders in which absolute imports of a file are looked up. */
const searched = (importer: string): string[] =>
  isTestCode(importer) ? ['', dirname(importer), 'tests'] : [''];

const isSibling = (importer: string, module: string, own: OwnFiles): boolean =>
  pythonFile(join(dirname(importer), module), own) !== undefined;

const missingModule = (importer: string, taken: Import, own: OwnFiles): CodeFault => {
  const { name } = taken;
  const [first = ''] = name.split('.');
  const message = `there is no module "${name}" where hosts run this`;
  if (!name.startsWith('.') && dirname(importer) !== '.' && isSibling(importer, first, own)) {
    return fault(taken, message, `import the module relative to this file: from .${name} import …`);
  }
  const hint =
    'hosts have the standard library of Python 3.13, svc_env and the files of the world; add the module as a file of the world, or do not use it';
  return fault(taken, message, hint);
};

const pythonFaults = (importer: string, taken: Import, own: OwnFiles): CodeFault[] => {
  const { name } = taken;
  const offered = pythonModules.exports.get(name);
  if (offered !== undefined) {
    return missingNames(taken, offered, (inside) => pythonModules.exports.has(`${name}.${inside}`));
  }
  const [, dots = '', rest = ''] = /^(\.*)(.*)$/.exec(name) ?? [];
  const path = rest.replaceAll('.', '/');
  if (dots === '') {
    const [first = ''] = name.split('.');
    if (isInPythonLibrary(first)) return [];
    if (first === 'pytest' && isTestCode(importer)) return [];
    if (first === 'svc_env') {
      return [
        fault(
          taken,
          `there is no module "${name}"`,
          suggestName(name, pythonModules.exports.keys()),
        ),
      ];
    }
  }
  if (dots !== '' && !isTestCode(importer)) {
    const depth = importer.split('/').length - 1;
    if (dots.length > depth) {
      const message = `"${name}" leads out of the package that contains this file`;
      const hint = `files at the top of the tree are imported by their names: import ${rest === '' ? 'labels' : rest}`;
      return [fault(taken, message, hint)];
    }
  }
  const above = '../'.repeat(Math.max(0, dots.length - 1));
  const folders = dots === '' ? searched(importer) : [join(dirname(importer), above)];
  const found = folders
    .map((folder) => pythonFile(join(folder, path), own))
    .find((file) => file !== undefined);
  if (found === undefined) return [missingModule(importer, taken, own)];
  const offers = found.endsWith('/') ? new Set<string>() : own.offers(found);
  if (offers === undefined) return [];
  const folder = found.replace(/(?:\/__init__\.py|\/|\.py)$/, '');
  const isModule = (inside: string) => pythonFile(join(folder, inside), own) !== undefined;
  return missingNames(taken, offers, isModule);
};

const typescriptFaults = (importer: string, taken: Import, own: OwnFiles): CodeFault[] => {
  const { name, takes } = taken;
  const offered = typescriptModules.exports.get(name);
  if (offered !== undefined) {
    const types = takes.filter((each) => typescriptModules.types.has(each.name));
    const values = takes.filter((each) => !typescriptModules.types.has(each.name));
    return [
      ...types.map((each) =>
        fault(
          each,
          `"${each.name}" is a type, which does not exist when the code runs`,
          'write import type',
        ),
      ),
      ...missingNames({ ...taken, takes: values }, offered),
    ];
  }
  if (!/^\.{1,2}\//.test(name)) {
    // Node knows this module only as `node:test`.
    if (name !== 'test' && nodeModules.has(name.replace(/^node:/, ''))) return [];
    const message = `there is no module "${name}" where hosts run this`;
    const hint =
      'hosts have modules of Node that need no network, svc_env and the files of the world';
    return [fault(taken, message, hint)];
  }
  const path = join(dirname(importer), name);
  if (!own.has(path)) {
    const message = `there is no file "${path}"`;
    const other = [`${path}.ts`, path.replace(/\.js$/, '.ts'), `${path}/index.ts`].find(own.has);
    const folder = dirname(importer);
    const beside = own
      .paths()
      .filter((one) => one.endsWith('.ts') && dirname(one) === dirname(path));
    const meant = other ?? nearestName(path, beside);
    const hint = meant === undefined ? undefined : `write "${relativeTo(folder, meant)}"`;
    return [fault(taken, message, hint)];
  }
  const offers = own.offers(path);
  return offers === undefined ? [] : missingNames(taken, offers);
};

const relativeTo = (folder: string, path: string): string => {
  const prefix = folder === '.' ? '' : `${folder}/`;
  return path.startsWith(prefix) ? `./${path.slice(prefix.length)}` : path;
};

/** Returns the faults of one import of a file. */
export const importFaults = (importer: string, taken: Import, own: OwnFiles): CodeFault[] =>
  importer.endsWith('.py')
    ? pythonFaults(importer, taken, own)
    : typescriptFaults(importer, taken, own);
