/**
 * Writes the types of `svc_env` next to a world, so that editors complete `ctx` and type checkers know it. The types
 * are in a hidden folder, which is not part of the world. Editor configs that refer to this folder are written once,
 * and then belong to the author.
 */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { TreeFile } from '#domain/world.ts';
import { readAuthorTypes } from '#runtime/author-types.ts';
import type { Context } from '../terminal/context.ts';
import { formatJson } from '../terminal/print.ts';
import { typesFolder, writeTree } from './write-tree.ts';

const pyrightConfig = { extraPaths: [typesFolder] };

const tsConfig = {
  compilerOptions: {
    target: 'es2024',
    lib: ['es2024'],
    module: 'esnext',
    moduleResolution: 'bundler',
    strict: true,
    noEmit: true,
    allowImportingTsExtensions: true,
    erasableSyntaxOnly: true,
    verbatimModuleSyntax: true,
  },
  include: ['**/*.ts', `${typesFolder}/svc_env.d.ts`],
};

const jsonFile = (path: string, value: unknown): TreeFile => ({
  path,
  content: new TextEncoder().encode(formatJson(value)),
});

/** Returns the types, and those editor configs that the folder does not have yet. */
const editorFiles = (root: string): TreeFile[] => {
  const types = readAuthorTypes().map((file) => ({ ...file, path: `${typesFolder}/${file.path}` }));
  const configs = [
    jsonFile('pyrightconfig.json', pyrightConfig),
    jsonFile('tsconfig.json', tsConfig),
  ];
  return [...types, ...configs.filter(({ path }) => !existsSync(join(root, path)))];
};

/** Writes these files below a folder named by the user. Returns the written paths. */
export const writeEditorFiles = (context: Context, folder: string): string[] => {
  const files = editorFiles(resolve(context.cwd, folder));
  writeTree(context, folder, files);
  return files.map(({ path }) => path);
};
