/** The imports between the files of the repository, as the files state them, for tests and docs of its layout. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../..', import.meta.url));

export type Import = { file: string; specifier: string };

/** Returns the source files below a folder, tests included, by their paths in the repository. */
export const sourceFiles = (folder: string): string[] =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((name) => /\.(ts|tsx|mts)$/.test(name) && !name.includes('node_modules'))
    .sort();

export const isTest = (file: string): boolean => /\.(test|spec)\.ts$/.test(file);

const anyImport =
  /(?:^|\n)\s*(?:import|export)\s[^;'"]*?from\s*['"]([^'"]+)['"]|import\(\s*['"]([^'"]+)['"]\s*\)|(?:^|\n)\s*import\s*['"]([^'"]+)['"]/g;

/** Matches an import that exists at run time, and not for its types alone. */
export const valueImport =
  /(?:^|\n)\s*(?:import|export)\s(?!type\s)[^;'"]*?from\s*['"]([^'"]+)['"]|import\(\s*['"]([^'"]+)['"]\s*\)|(?:^|\n)\s*import\s*['"]([^'"]+)['"]/g;

export const textOf = (file: string): string => readFileSync(join(root, file), 'utf8');

/** Returns the imports of a file as they are written there. */
export const importsOf = (file: string, form = anyImport): string[] =>
  [...textOf(file).matchAll(form)].map((match) => match[1] ?? match[2] ?? match[3] ?? '');

/** Returns the repository path that an import names, or undefined for a package. */
export const targetOf = ({ file, specifier }: Import): string | undefined => {
  if (specifier.startsWith('.')) return normalize(join(dirname(file), specifier));
  const [, library, rest] = /^#(\w+)\/(.*)$/.exec(specifier) ?? [];
  return library === undefined ? undefined : `src/${library}/${rest}`;
};

/** Returns the imports among the files below some folders, except tests: for each file, the files that it imports. */
export const importGraph = (folders: readonly string[]): ReadonlyMap<string, readonly string[]> => {
  const files = new Set(folders.flatMap(sourceFiles).filter((file) => !isTest(file)));
  return new Map(
    [...files].map((file) => [
      file,
      importsOf(file)
        .map((specifier) => targetOf({ file, specifier }))
        .filter((target) => target !== undefined && files.has(target))
        .map(String),
    ]),
  );
};

/** Returns the import cycles of files or other names: each cycle once, its members in order. */
export const circlesOf = (graph: ReadonlyMap<string, readonly string[]>): string[][] => {
  const order = new Map<string, number>();
  const open: string[] = [];
  const closed = new Set<string>();
  const circles: string[][] = [];
  const visit = (name: string): number => {
    const index = order.size;
    order.set(name, index);
    open.push(name);
    let low = index;
    for (const next of graph.get(name) ?? []) {
      if (closed.has(next)) continue;
      low = Math.min(low, order.has(next) ? (order.get(next) ?? low) : visit(next));
    }
    if (low === index) {
      const circle = open.splice(open.lastIndexOf(name));
      for (const member of circle) closed.add(member);
      if (circle.length > 1 || graph.get(name)?.includes(name)) circles.push(circle.sort());
    }
    return low;
  };
  for (const name of graph.keys()) if (!order.has(name)) visit(name);
  return circles;
};

/**
 * Returns the floor (`test/floors.ts`) of a program's file: its folder, or the file itself if it has a floor of its
 * own.
 */
export const floorOf = (program: string, file: string, places: readonly string[]): string => {
  const inside = file.slice(program.length + 1);
  if (places.includes(inside)) return inside;
  const around = places.filter((place) => inside.startsWith(`${place}/`));
  return around.sort((a, b) => b.length - a.length)[0] ?? dirname(inside);
};
