/**
 * Removes the uses of an entity that problems report: rows, routes, tools, tasks, the table `[webhooks]`,
 * relationships, and queries that grade tasks. Links, ingest rules and code are left to the author.
 */
import { own, parsePointer, toPointer } from '#domain/json.ts';
import type { TreeFile } from '#domain/world.ts';
import { connectorFile } from '../files/connector-toml.ts';
import { environmentFile } from '../files/svc-env-toml.ts';
import { worldFile } from '../files/world-json.ts';
import type { Problem } from '../problem.ts';
import { createProblems } from '../read/place.ts';
import { openTree } from '../read/tree.ts';
import { isTable, type Table } from '../read/values.ts';
import { cutToml } from './cut-toml.ts';
import { rewriteJson } from './json-text.ts';
import { editFile, textAt } from './tree-text.ts';
import { readWorldDocument } from './world-document.ts';

/** A use to be removed: whole files, or a part of one. */
export type Use =
  | { kind: 'file' | 'folder'; path: string }
  | { kind: 'tool'; name: string }
  | { kind: 'relationship'; entity: string; index: number }
  | { kind: 'toml'; file: string; path: (string | number)[]; name: string };

const tomlReader = (files: readonly TreeFile[]) => {
  const tree = openTree(files, createProblems());
  return (file: string): Table => {
    const value = tree?.toml(file)?.value;
    return isTable(value) ? value : {};
  };
};

const listIn = (table: Table, key: string): Table[] => {
  const list = own(table, key);
  return Array.isArray(list) ? list.filter(isTable) : [];
};

/** Returns the query in a file, and the tasks of svc-env.toml that it grades, as uses. */
const verifierUses = (file: string, readToml: (file: string) => Table): Use[] => {
  const name = file.replace(/^verifiers\/(.*)\.sql$/, '$1');
  const tasks = listIn(readToml(environmentFile), 'tasks').flatMap((task, index): Use[] =>
    [name, `${name}.sql`].includes(String(task.verifier))
      ? [
          {
            kind: 'toml',
            file: environmentFile,
            path: ['tasks', index],
            name: `task ${String(task.name)}`,
          },
        ]
      : [],
  );
  return tasks.length === 0 ? [] : [...tasks, { kind: 'file', path: file }];
};

const usesOf = ({ file, pointer }: Problem, readToml: (file: string) => Table): Use[] => {
  const segments = parsePointer(pointer);
  const [first, second, third, fourth] = segments;
  if (file.startsWith('data/')) return [{ kind: 'file', path: file }];
  if (file.startsWith('verifiers/')) return verifierUses(file, readToml);
  const [, task] = /^scenarios\/([^/]+)\//.exec(file) ?? [];
  if (task !== undefined) return [{ kind: 'folder', path: `scenarios/${task}/` }];
  if (file === worldFile && second === 'tools' && third !== undefined) {
    return [{ kind: 'tool', name: third }];
  }
  if (file === worldFile && fourth === 'relationships' && third !== undefined) {
    return [{ kind: 'relationship', entity: third, index: Number(segments[4]) }];
  }
  if (file !== connectorFile) return [];
  if (first === 'webhooks')
    return [{ kind: 'toml', file, path: ['webhooks'], name: 'table [webhooks]' }];
  if (first !== 'operations' || second === undefined || third === 'ingest') return [];
  const operation = listIn(readToml(connectorFile), 'operations')[Number(second)];
  const name = `route ${String(operation?.name)}`;
  return [{ kind: 'toml', file, path: ['operations', Number(second)], name }];
};

/** Returns the uses that the problems report, each once, and the problems that only the author can solve. */
export const findUses = (
  files: readonly TreeFile[],
  problems: readonly Problem[],
): { uses: Use[]; left: Problem[] } => {
  const readToml = tomlReader(files);
  const uses = new Map<string, Use>();
  const left: Problem[] = [];
  for (const problem of problems) {
    const found = usesOf(problem, readToml);
    if (found.length === 0) left.push(problem);
    for (const use of found) uses.set(JSON.stringify(use), use);
  }
  return { uses: [...uses.values()], left };
};

const withoutFiles = (files: readonly TreeFile[], isGone: (path: string) => boolean) =>
  files.filter(({ path }) => !isGone(path));

const cutFrom = (
  files: readonly TreeFile[],
  file: string,
  path: (string | number)[],
): TreeFile[] | undefined => {
  const left = cutToml(textAt(files, file), path);
  return left === undefined ? undefined : editFile(files, file, () => left).tree;
};

const rewriteWorld = (
  files: readonly TreeFile[],
  change: (extension: Table, entities: Table) => Table,
): TreeFile[] | undefined => {
  const read = readWorldDocument(files);
  if (!read.ok) return undefined;
  const { root, extension, entities } = read.document;
  const value = { ...root, 'x-svc': change(extension, entities) };
  return editFile(files, worldFile, (text) => rewriteJson(text, value)).tree;
};

const withoutTool = (files: readonly TreeFile[], name: string): TreeFile[] | undefined => {
  const tools = own(tomlReader(files)(environmentFile), 'tools');
  const serve = isTable(tools) ? own(tools, 'serve') : undefined;
  const index = Array.isArray(serve) ? serve.indexOf(name) : -1;
  const served = index === -1 ? files : cutFrom(files, environmentFile, ['tools', 'serve', index]);
  if (served === undefined) return undefined;
  return rewriteWorld(served, (extension) => {
    const listed = own(extension, 'tools');
    const { [name]: _gone, ...others } = isTable(listed) ? listed : {};
    return { ...extension, tools: others };
  });
};

const withoutRelationship = (
  files: readonly TreeFile[],
  name: string,
  index: number,
): TreeFile[] | undefined =>
  rewriteWorld(files, (extension, entities) => {
    const entity = own(entities, name);
    const listed = isTable(entity) ? own(entity, 'relationships') : undefined;
    if (!isTable(entity) || !Array.isArray(listed)) return extension;
    const { relationships: _all, ...rest } = entity;
    const kept = listed.filter((_, at) => at !== index);
    const changed = kept.length === 0 ? rest : { ...rest, relationships: kept };
    return { ...extension, entities: { ...entities, [name]: changed } };
  });

/** Returns the tree without a use; undefined if the use cannot be removed from the text of its file. */
const removeUse = (files: readonly TreeFile[], use: Use): TreeFile[] | undefined => {
  switch (use.kind) {
    case 'file':
      return withoutFiles(files, (path) => path === use.path);
    case 'folder':
      return withoutFiles(files, (path) => path.startsWith(use.path));
    case 'tool':
      return withoutTool(files, use.name);
    case 'relationship':
      return withoutRelationship(files, use.entity, use.index);
    case 'toml':
      return cutFrom(files, use.file, use.path);
  }
};

const placeOf = (use: Use): number => {
  if (use.kind === 'relationship') return use.index;
  return use.kind === 'toml' ? Number(use.path.at(-1)) || 0 : 0;
};

/** Removes all uses. The last item of a list is removed first, because indexes count from the beginning of the list. */
export const removeUses = (
  files: readonly TreeFile[],
  uses: readonly Use[],
): TreeFile[] | undefined => {
  let tree: TreeFile[] | undefined = [...files];
  for (const use of uses.toSorted((a, b) => placeOf(b) - placeOf(a))) {
    tree = tree === undefined ? undefined : removeUse(tree, use);
  }
  return tree;
};

/** Returns the names of removed tools, tasks and operations, by which code may still mention them. */
export const namesOf = (files: readonly TreeFile[], uses: readonly Use[]): string[] => {
  const operations = listIn(tomlReader(files)(connectorFile), 'operations');
  return uses.flatMap((use) => {
    if (use.kind === 'tool') return [use.name];
    if (use.kind === 'folder') return [use.path.split('/')[1] ?? ''];
    if (use.kind !== 'toml' || use.path[0] !== 'operations') return [];
    return [String(operations[Number(use.path[1])]?.name)];
  });
};

/** Describes the removed part of a file in words; undefined for a whole file, which its path describes. */
export const describePart = (use: Use): string | undefined => {
  if (use.kind === 'tool') return `the tool ${use.name}`;
  if (use.kind === 'relationship') return `a relationship of ${use.entity}`;
  return use.kind === 'toml' ? `the ${use.name}` : undefined;
};

/** Returns the place of a removed use. */
export const whereIs = (use: Use): { file: string; pointer: string } => {
  switch (use.kind) {
    case 'file':
    case 'folder':
      return { file: use.path, pointer: '' };
    case 'tool':
      return { file: worldFile, pointer: toPointer(['x-svc', 'tools', use.name]) };
    case 'relationship':
      return {
        file: worldFile,
        pointer: toPointer(['x-svc', 'entities', use.entity, 'relationships', use.index]),
      };
    case 'toml':
      return { file: use.file, pointer: toPointer(use.path) };
  }
};
