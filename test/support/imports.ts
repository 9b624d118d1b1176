/** The imports between the files of the repository, as the files state them, for tests and docs of its layout. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

export type Import = { file: string; specifier: string };

/** Source files below a folder, tests too, by their paths in the repository. */
export const sourceFiles = (folder: string): string[] =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((name) => /\.(ts|tsx|mts)$/.test(name) && !name.includes('node_modules'))
    .sort();

export const isTest = (file: string): boolean => /\.(test|spec)\.ts$/.test(file);

const anyImport =
  /(?:^|\n)\s*(?:import|export)\s[^;'"]*?from\s*['"]([^'"]+)['"]|import\(\s*['"]([^'"]+)['"]\s*\)|(?:^|\n)\s*import\s*['"]([^'"]+)['"]/g;

/** One that is there when the program runs, and not for its types alone. */
export const valueImport =
  /(?:^|\n)\s*(?:import|export)\s(?!type\s)[^;'"]*?from\s*['"]([^'"]+)['"]|import\(\s*['"]([^'"]+)['"]\s*\)|(?:^|\n)\s*import\s*['"]([^'"]+)['"]/g;

export const textOf = (file: string): string => readFileSync(join(root, file), 'utf8');

/** What a file imports, as it is written there. */
export const importsOf = (file: string, form = anyImport): string[] =>
  [...textOf(file).matchAll(form)].map((match) => match[1] ?? match[2] ?? match[3] ?? '');

/** The repository path that an import names, or undefined for a package. */
export const targetOf = ({ file, specifier }: Import): string | undefined => {
  if (specifier.startsWith('.')) return normalize(join(dirname(file), specifier));
  const [, library, rest] = /^#(\w+)\/(.*)$/.exec(specifier) ?? [];
  return library === undefined ? undefined : `src/${library}/${rest}`;
};

/** For each file below some folders, tests apart, the files of them that it imports. */
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

/** Files, or other names, that lead to one another: each circle once, its members in order. */
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

/** The floor that a file of a program stands on: its folder, or itself where it has a floor of its own. */
export const floorOf = (program: string, file: string, places: readonly string[]): string => {
  const inside = file.slice(program.length + 1);
  if (places.includes(inside)) return inside;
  const around = places.filter((place) => inside.startsWith(`${place}/`));
  return around.sort((a, b) => b.length - a.length)[0] ?? dirname(inside);
};
