/**
 * Finds the uses of an entity: they are problems of the tree without the entity. Each such problem is reworded to name
 * the thing that uses the entity.
 */

import { parsePointer } from '#domain/json.ts';
import type { TreeFile } from '#domain/world.ts';
import { valueAtPath } from '../field-path.ts';
import { connectorFile } from '../files/connector-toml.ts';
import { environmentFile } from '../files/svc-env-toml.ts';
import { worldFile } from '../files/world-json.ts';
import type { Problem } from '../problem.ts';
import type { ProblemCode } from '../read/codes.ts';
import { createProblems } from '../read/place.ts';
import { openTree } from '../read/tree.ts';

/** Codes of problems about a name that the data model no longer has. */
const danglingCodes = new Set([
  'unknown_entity',
  'unknown_field',
  'unimplemented_tool',
  'bad_verifier',
]);

type Describe = (segments: string[], named: (at: string[]) => string) => string | undefined;

const ofWorld: Describe = ([, kind, name, part]) => {
  if (kind === 'tools') return `the conventional tool "${name}"`;
  return part === 'relationships' ? `a relationship of the entity "${name}"` : undefined;
};

const ofConnector: Describe = ([table, index, part], named) => {
  if (table === 'webhooks') return 'the table [webhooks]';
  if (table !== 'operations' || index === undefined) return undefined;
  const ingest = part === 'ingest' ? 'the ingest rules of ' : '';
  return `${ingest}the operation "${named([table, index, 'name'])}"`;
};

const ofEnvironment: Describe = ([table, alias]) =>
  table === 'dependencies' ? `the link to the world "${alias}"` : undefined;

const inFiles: Record<string, Describe> = {
  [worldFile]: ofWorld,
  [connectorFile]: ofConnector,
  [environmentFile]: ofEnvironment,
};

const ofFile = (file: string): string => {
  if (/\.(?:py|ts)$/.test(file)) return 'code';
  const [, task] = /^scenarios\/([^/]+)\//.exec(file) ?? [];
  if (file.startsWith('data/')) return 'its rows';
  if (file.startsWith('verifiers/')) return 'a verifier';
  const part = file.includes('/seed/') ? 'rows of' : 'a check of';
  return task === undefined ? 'a part of it' : `${part} the task "${task}"`;
};

/** Returns a function that reads the text at a path in one of the tree's TOML files. */
const createNames = (files: readonly TreeFile[]): ((file: string, at: string[]) => string) => {
  const tree = openTree(files, createProblems());
  return (file, at) => {
    const value = valueAtPath(tree?.toml(file)?.value, at);
    return String(value ?? at.join('.'));
  };
};

const wayOut = (file: string): string =>
  /\.(?:toml|py|ts)$/.test(file) || file === worldFile
    ? 'first change or remove the use of the entity'
    : 'first remove the use of the entity';

/** Rewords problems of a tree without the entity as uses of it; other problems stay unchanged. */
export const describeReferences = (
  entity: string,
  problems: readonly Problem[],
  files: readonly TreeFile[],
): Problem[] => {
  const nameAt = createNames(files);
  return problems.map((problem) => {
    const { file, pointer, code } = problem;
    if (!danglingCodes.has(code)) return problem;
    const describe = Object.hasOwn(inFiles, file) ? inFiles[file] : undefined;
    const named = (at: string[]): string => nameAt(file, at);
    const subject = describe?.(parsePointer(pointer), named) ?? ofFile(file);
    const message = `the entity "${entity}" is used by ${subject} in ${file}`;
    const inUse: ProblemCode = 'entity_in_use';
    return { ...problem, code: inUse, message, hint: wayOut(file) };
  });
};

const escaped = (name: string): string => name.replaceAll(/[^\w]/g, '\\$&');

/** Returns true if user code may mention the name: in quotes, as a segment of a path, or as a member. */
const mentions = (text: string, name: string): boolean =>
  new RegExp(`['"\`/.]${escaped(name)}(?!\\w)`).test(text);

/** Finds the files of user code that mention any of these names; returns each file with the names in it. */
export const mentioningFiles = (
  names: readonly string[],
  files: readonly TreeFile[],
): { path: string; names: string[] }[] => {
  const decoder = new TextDecoder();
  return files
    .filter(({ path }) => /\.(py|ts)$/.test(path))
    .map(({ path, content }) => {
      const text = decoder.decode(content);
      return { path, names: names.filter((name) => mentions(text, name)) };
    })
    .filter((file) => file.names.length > 0)
    .sort((a, b) => (a.path < b.path ? -1 : 1));
};
