/**
 * Generates the files that compiling writes. They depend only on the tree's files, so equal trees give equal bytes on
 * every machine, whatever the order of their files.
 */
import { compareTexts, foldPath, showPath } from '#domain/tree-path.ts';
import type { TreeFile } from '#domain/world.ts';
import type { Contract } from '../contract.ts';
import { openApiOf } from '../openapi/openapi.ts';
import type { Problem } from '../problem.ts';
import { lockPath, openApiPath } from '../read/paths.ts';
import { createTablesSql } from '../sql/ddl.ts';
import { createLock, writeLock } from './lock.ts';
import { generatePage } from './page.ts';
import { readmeOf } from './readme.ts';
import { toolSchemasOf } from './tool-schemas.ts';

const toFile = (path: string, text: string): TreeFile => ({
  path,
  content: new TextEncoder().encode(text),
});

const toJson = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

/** Returns the contract without solutions, for readers who may see the world but not its solutions. */
const withoutSolutions = (contract: Contract): Contract => ({
  ...contract,
  tasks: contract.tasks.map(({ solution, alternatives, ...task }) => task),
});

/**
 * Returns all generated files of a world by path, including its UI page if compiling writes the page. `files` are the
 * files of the tree, which may include generated ones.
 */
export const generateArtifacts = ({
  contract,
  files,
}: {
  contract: Contract;
  files: readonly TreeFile[];
}): TreeFile[] => {
  const artifacts = [
    toFile('db/schema.sql', createTablesSql(contract)),
    toFile('schema/README.md', readmeOf(contract)),
    ...(contract.api?.routes.length ? [toFile(openApiPath, toJson(openApiOf(contract)))] : []),
    toFile('schema/runtime.json', toJson(withoutSolutions(contract))),
    toFile('tool-schemas.json', toJson({ tools: toolSchemasOf(contract) })),
    ...generatePage(contract, files),
  ];
  const lock = toFile(lockPath, writeLock(createLock(contract, files, artifacts)));
  return [...artifacts, lock].sort((a, b) => compareTexts(a.path, b.path));
};

// Files of a tree may collide with generated ones: some file system treats both as one, or a path would have to be a
// folder and a file at once.

const foldersOf = (path: string): string[] =>
  path
    .split('/')
    .slice(0, -1)
    .map((_, index, parts) => parts.slice(0, index + 1).join('/'));

/**
 * Returns a `bad_path` problem for each file of the tree that collides with a generated one, in the order of the files.
 */
export const artifactCollisions = ({
  files,
  generated,
}: {
  files: readonly TreeFile[];
  generated: readonly TreeFile[];
}): Problem[] => {
  const byFolded = new Map(generated.map(({ path }) => [foldPath(path), path]));
  const folders = new Map(
    generated.flatMap(({ path }) => foldersOf(path).map((folder) => [foldPath(folder), path])),
  );
  const faultOf = (path: string): string | undefined => {
    const twin = byFolded.get(foldPath(path));
    if (twin !== undefined && twin !== path)
      return `differs from the generated file ${twin} only by case`;
    const inside = folders.get(foldPath(path));
    if (inside !== undefined)
      return `is a file, but must be the folder of the generated file ${inside}`;
    const above = foldersOf(path).find((folder) => byFolded.has(foldPath(folder)));
    return above && `lies below ${above}, which is a generated file`;
  };
  return files.flatMap(({ path }): Problem[] => {
    const fault = faultOf(path);
    if (fault === undefined) return [];
    const message = `the path ${showPath(path)} ${fault}`;
    return [{ file: path, pointer: '', code: 'bad_path', message, hint: 'rename the file' }];
  });
};
