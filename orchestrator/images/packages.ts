/**
 * Finds the npm packages that source files need at run time, from their imports and the lock file. The image copies
 * these packages from the local node_modules, so building it needs no registry.
 */

/** Type of the part of package-lock.json that is used: packages by their path, such as `node_modules/ajv`. */
export type LockFile = {
  packages: Record<
    string,
    {
      version?: string;
      integrity?: string;
      dependencies?: Record<string, string>;
      optionalDependencies?: Record<string, string>;
      peerDependencies?: Record<string, string>;
    }
  >;
};

/** A needed package: its path, and its exact version and integrity. */
export type NeededPackage = { path: string; identity: string };

const importPattern = /(?:\bfrom|\bimport)\s*\(?\s*['"]([^'"]+)['"]/g;
const typeOnlyPattern = /^\s*(?:import|export)\s+type\b[^;'"]*['"][^'"]+['"]/gm;

/** Returns the packages that a source text loads, without relative paths, built-ins, `#` names or type-only imports. */
export const importedPackages = (source: string): string[] =>
  [...source.replace(typeOnlyPattern, '').matchAll(importPattern)]
    .map((match) => match[1] ?? '')
    .filter((specifier) => /^[a-z@]/i.test(specifier) && !specifier.startsWith('node:'))
    .map((specifier) =>
      specifier
        .split('/')
        .slice(0, specifier.startsWith('@') ? 2 : 1)
        .join('/'),
    );

/**
 * Returns the path of a package that code at `from` imports, as Node resolves it; undefined when it is not installed.
 */
const resolvePath = (lock: LockFile, from: string, name: string): string | undefined => {
  for (let at = from; ; at = at.slice(0, Math.max(0, at.lastIndexOf('node_modules/') - 1))) {
    const path = at === '' ? `node_modules/${name}` : `${at}/node_modules/${name}`;
    if (lock.packages[path] !== undefined) return path;
    if (at === '') return undefined;
  }
};

/**
 * Returns the named packages among the project's own dependencies and all their dependencies, sorted by path. Other
 * names are left out: they are modules of user code, or of tests.
 */
export const closePackages = (lock: LockFile, names: Iterable<string>): NeededPackage[] => {
  const needed = new Map<string, NeededPackage>();
  const visit = (from: string, name: string): void => {
    const path = resolvePath(lock, from, name);
    const entry = path === undefined ? undefined : lock.packages[path];
    if (path === undefined || entry === undefined || needed.has(path)) return;
    needed.set(path, { path, identity: `${entry.version} ${entry.integrity}` });
    const { dependencies, optionalDependencies, peerDependencies } = entry;
    const next = { ...dependencies, ...optionalDependencies, ...peerDependencies };
    for (const dependency of Object.keys(next)) visit(path, dependency);
  };
  const own = lock.packages['']?.dependencies ?? {};
  for (const name of names) if (Object.hasOwn(own, name)) visit('', name);
  return [...needed.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
};
