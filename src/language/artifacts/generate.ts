/**
 * The files that compiling generates. They depend on the tree's files and on nothing else, so equal
 * trees give equal bytes on every machine, whatever the order of their files.
 */
import { compareTexts } from '#domain/tree-path.ts';
import type { TreeFile } from '#domain/world.ts';
import type { Contract } from '../contract.ts';
import { openApiOf } from '../openapi/openapi.ts';
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

/**
 * All generated files of a world, by path, its UI page among them when compiling writes it. `files` are
 * those of the tree, generated ones too if they stand there.
 */
export const generateArtifacts = ({
  contract,
  files,
}: {
  contract: Contract;
  files: readonly TreeFile[];
}): TreeFile[] => {
  const page = generatePage(contract, files);
  const artifacts = [
    toFile('db/schema.sql', createTablesSql(contract)),
    toFile('schema/README.md', readmeOf(contract)),
    ...(contract.api?.routes.length ? [toFile(openApiPath, toJson(openApiOf(contract)))] : []),
    toFile('schema/runtime.json', toJson(contract)),
    toFile('tool-schemas.json', toJson({ tools: toolSchemasOf(contract) })),
    ...(page === undefined ? [] : [page]),
  ];
  const lock = toFile(lockPath, writeLock(createLock(contract, files, artifacts)));
  return [...artifacts, lock].sort((a, b) => compareTexts(a.path, b.path));
};
