/** `svc worlds schema init`: begins a world in a new folder, with a small one or with a template. */
import { existsSync, readdirSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import type { Command } from 'commander';
import { AppError } from '#domain/error.ts';
import type { TreeFile } from '#domain/world.ts';
import { initTree } from '#language/edit/init.ts';
import { suggestName } from '#language/read/suggest.ts';
import { bundledTemplatesDir, readTemplateTree, templateSlugs } from '#runtime/templates.ts';
import { addCommand, printAnswer } from '../../command.ts';
import type { Context } from '../../context.ts';
import { asPath } from '../../input.ts';
import { writeTree } from '../../write-tree.ts';
import { writeEditorFiles } from './types.ts';

type Options = { connector?: string; name?: string; json?: boolean };

const namesIn = (path: string, folder: string): string[] => {
  try {
    return readdirSync(path);
  } catch (cause) {
    throw new AppError('invalid', `cannot begin a world in ${folder}`, { cause });
  }
};

const refuseFilled = (context: Context, folder: string): void => {
  const path = resolve(context.cwd, folder);
  if (!existsSync(path)) return;
  const first = namesIn(path, folder).find((name) => name !== '.git');
  if (first === undefined) return;
  throw new AppError('invalid', `${folder} is not empty: it holds ${first}`, {
    detail: { hint: 'name a folder that is new or empty' },
  });
};

const readTemplate = (slug: string): TreeFile[] => {
  const template = readTemplateTree(bundledTemplatesDir, slug);
  if (template !== undefined) return template;
  const hint = suggestName(slug, templateSlugs(bundledTemplatesDir));
  throw new AppError('invalid', `there is no template "${slug}"`, {
    detail: hint === undefined ? {} : { hint },
  });
};

const describe = (folder: string, written: readonly string[]): string =>
  [
    ...written.map((path) => `  ${path}`),
    '',
    `${written.length} files written to ${folder}. What comes next:`,
    `  $ svc worlds schema check ${folder}`,
    `  $ svc worlds create <slug> --from ${asPath(folder)}`,
  ].join('\n');

export const addInit = (schema: Command, context: Context): void => {
  addCommand(schema, {
    usage: 'init <folder>',
    summary: 'begin a world in a new folder',
    example: [
      'svc worlds schema init ./crm',
      'svc worlds schema init ./code --connector code-hosting --name "Our code host"',
    ].join('\n'),
  })
    .option('--connector <template>', 'begin with a template (see "svc worlds schema templates")')
    .option('--name <text>', "display name (default: the folder's or the template's)")
    .option('--json', 'print the paths written as JSON')
    .action((folder: string, { connector, name, ...shown }: Options) => {
      refuseFilled(context, folder);
      const template = connector === undefined ? {} : { template: readTemplate(connector) };
      const ownName = name ?? basename(resolve(context.cwd, folder));
      const files = initTree({ name: ownName, ...template });
      writeTree(context, folder, files);
      const written = [...files.map(({ path }) => path), ...writeEditorFiles(context, folder)];
      printAnswer(context, shown, { folder, written }, () => describe(folder, written));
    });
};
