/**
 * `svc worlds schema init`, `entity add`, `entity remove` and `reconcile`: write or change the hand-written files of a
 * world tree. Each prints its changes as a diff.
 */
import { existsSync, readdirSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { type Command, InvalidArgumentError } from 'commander';
import { AppError } from '#domain/error.ts';
import type { TreeFile } from '#domain/world.ts';
import { addEntity, fieldTypes, type NewField } from '#language/edit/add-entity.ts';
import type { Change } from '#language/edit/change.ts';
import { diffText } from '#language/edit/diff-text.ts';
import { initTree } from '#language/edit/init.ts';
import { reconcile } from '#language/edit/reconcile/reconcile.ts';
import { removeEntity, removeEntityWithUses } from '#language/edit/remove-entity.ts';
import { suggestName } from '#language/read/suggest.ts';
import { bundledTemplatesDir, readTemplateTree, templateSlugs } from '#runtime/templates.ts';
import { writeEditorFiles } from '../files/editor-files.ts';
import { asPath, readTree } from '../files/input.ts';
import { changeTree, writeTree } from '../files/write-tree.ts';
import type { Colors, Context } from '../terminal/context.ts';
import { formatCount } from '../terminal/print.ts';
import { colorLine } from '../views/diff.ts';
import { ProblemsError, usageError } from '../views/report.ts';
import { addCommand, printAnswer } from './command.ts';

const decoder = new TextDecoder();

const textOf = (files: readonly TreeFile[], path: string): string =>
  decoder.decode(files.find((file) => file.path === path)?.content);

/** Formats the changed files as a unified diff. */
const formatDiff = (
  before: readonly TreeFile[],
  changed: readonly TreeFile[],
  colors: Colors,
): string =>
  changed
    .map(({ path, content }) => diffText(textOf(before, path), decoder.decode(content), path))
    .join('')
    .trimEnd()
    .split('\n')
    .map((line) => colorLine(line, colors))
    .join('\n');

/** Formats each change with its place and the reason for it. */
const formatReasons = (changes: readonly Change[]): string =>
  changes.map(({ file, pointer, reason }) => `  ${file}${pointer}: ${reason}`).join('\n');

type InitOptions = { connector?: string; name?: string; api?: boolean; json?: boolean };

const namesIn = (path: string, folder: string): string[] => {
  try {
    return readdirSync(path);
  } catch (cause) {
    throw new AppError('invalid', `cannot create a world in ${folder}`, { cause });
  }
};

const refuseFilled = (context: Context, folder: string): void => {
  const path = resolve(context.cwd, folder);
  if (!existsSync(path)) return;
  const first = namesIn(path, folder).find((name) => name !== '.git');
  if (first === undefined) return;
  throw new AppError('invalid', `${folder} is not empty: it contains ${first}`, {
    detail: { hint: 'name a folder that does not exist or is empty' },
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

const describeBegun = (folder: string, written: readonly string[]): string =>
  [
    ...written.map((path) => `  ${path}`),
    '',
    `${written.length} files written to ${folder}. Next steps:`,
    `  $ svc worlds schema check ${folder}`,
    ...(written.some((path) => path.startsWith('tests/'))
      ? [`  $ svc worlds test ${asPath(folder)}`]
      : []),
    `  $ svc worlds create <slug> --from ${asPath(folder)}`,
  ].join('\n');

export const addInit = (schema: Command, context: Context): void => {
  addCommand(schema, {
    usage: 'init <folder>',
    summary: 'create a world tree in a new folder',
    example: [
      'svc worlds schema init ./crm',
      'svc worlds schema init ./billing --api',
      'svc worlds schema init ./code --connector code-hosting --name "Our code host"',
    ].join('\n'),
  })
    .option(
      '--api',
      'start with an HTTP API: routes, a handler, a webhook, a page, a task and tests',
    )
    .option('--connector <template>', 'start with a template (see "svc worlds schema templates")')
    .option('--name <text>', "display name (default: the folder's or the template's)")
    .option('--json', 'print the paths of the written files as JSON')
    .action((folder: string, { connector, name, api = false, ...shown }: InitOptions) => {
      if (api && connector !== undefined) {
        throw usageError('name one starting point: --api, or --connector with a template');
      }
      refuseFilled(context, folder);
      const template = connector === undefined ? {} : { template: readTemplate(connector) };
      const ownName = name ?? basename(resolve(context.cwd, folder));
      const files = initTree({ name: ownName, api, ...template });
      writeTree(context, folder, files);
      const written = [...files.map(({ path }) => path), ...writeEditorFiles(context, folder)];
      printAnswer(context, shown, { folder, written }, () => describeBegun(folder, written));
    });
};

type AddOptions = { field?: NewField[]; key?: string[]; json?: boolean };

/** Parses `name:type`. `name?` means that rows may lack the field, `type?` that its value may be null. */
const parseField = (text: string, before: NewField[] = []): NewField[] => {
  const [, name, optional, type, nullable] = /^([^:?]+)(\?)?:([a-z-]+)(\?)?$/.exec(text) ?? [];
  if (name === undefined || type === undefined) {
    throw new InvalidArgumentError('Write <name>:<type>, for example "title:string".');
  }
  const field = { name, type, required: optional === undefined, nullable: nullable !== undefined };
  return [...before, field];
};

const parseKey = (text: string): string[] => text.split(',').map((name) => name.trim());

export const addEntityAdd = (entity: Command, context: Context): void => {
  addCommand(entity, {
    usage: 'add <folder> <name>',
    summary: 'add an entity',
    example: [
      'svc worlds schema entity add ./crm contacts',
      'svc worlds schema entity add ./crm deals --field id:integer --field title:string --field closed_at:date-time?',
    ].join('\n'),
  })
    .option(
      '--field <name:type>',
      `a field, repeatable; with "name?:" rows may lack it, with "type?" its value may be null; types: ${fieldTypes.join(', ')}`,
      parseField,
    )
    .option('--key <fields>', 'primary key, separated by commas (default: id)', parseKey)
    .option('--json', 'print the changes as JSON')
    .action((folder: string, name: string, { field = [], key, ...shown }: AddOptions) => {
      const files = readTree(context, folder);
      const primaryKey = key === undefined ? {} : { primaryKey: key };
      const result = addEntity(files, { name, fields: field, ...primaryKey });
      if (!result.ok)
        throw new ProblemsError(folder, result.problems, files, `cannot have "${name}"`);
      writeTree(context, folder, result.files);
      const { changes, notes } = result;
      printAnswer(context, shown, { changes, notes }, () =>
        formatDiff(files, result.files, context.colors),
      );
    });
};

type RemoveOptions = { uses?: boolean; json?: boolean };

export const addEntityRemove = (entity: Command, context: Context): void => {
  addCommand(entity, {
    usage: 'remove <folder> <name>',
    summary: 'remove an entity; refused while other parts of the world refer to it',
    example: [
      'svc worlds schema entity remove ./crm contacts',
      'svc worlds schema entity remove ./billing invoices --uses',
    ].join('\n'),
  })
    .option(
      '--uses',
      'also remove its rows, and the routes, tools, tasks and other parts that refer to it',
    )
    .option('--json', 'print the changes as JSON')
    .action((folder: string, name: string, { uses = false, ...shown }: RemoveOptions) => {
      const files = readTree(context, folder);
      const result = uses ? removeEntityWithUses(files, name) : removeEntity(files, name);
      if (!result.ok) {
        const isInUse = result.problems.some(({ code }) => code === 'entity_in_use');
        const way = isInUse && !uses ? ' (add --uses to remove what refers to it, too)' : '';
        throw new ProblemsError(folder, result.problems, files, `cannot remove "${name}"${way}`);
      }
      const { changes, notes, removed = [] } = result;
      changeTree(context, folder, { write: result.files, remove: removed });
      printAnswer(context, shown, { changes, notes, removed }, () =>
        [
          formatDiff(files, result.files, context.colors),
          ...removed.map((path) => `removed ${path}`),
          ...notes,
        ].join('\n'),
      );
    });
};

// `svc worlds schema reconcile`: fits the data model to the vendor's real answers, which are in `captures/`. It prints
// the difference; only `--write` applies it.

type ReconcileOptions = { write?: boolean; json?: boolean };

type Reconciled = Extract<ReturnType<typeof reconcile>, { ok: true }>;

const describeReconciled = (
  files: ReturnType<typeof readTree>,
  { files: changed, changes, notes }: Reconciled,
  isWritten: boolean,
  { colors }: Context,
): string => {
  const noteLines = notes.map((note) => colors.dim(`note: ${note}`));
  if (changes.length === 0) return ['the data model fits the captures', ...noteLines].join('\n');
  const count = formatCount(changes.length, 'change');
  const end = isWritten ? `${count} written` : `${count}, not written: add --write to apply them`;
  return [formatDiff(files, changed, colors), '', formatReasons(changes), ...noteLines, end].join(
    '\n',
  );
};

export const addReconcile = (schema: Command, context: Context): void => {
  addCommand(schema, {
    usage: 'reconcile <folder>',
    summary: 'adapt the data model to captures/ and show the differences',
    example: 'svc worlds schema reconcile ./crm\nsvc worlds schema reconcile ./crm --write',
  })
    .option('--write', 'write the changed data model')
    .option('--json', 'print the changes as JSON')
    .action((folder: string, { write = false, ...shown }: ReconcileOptions) => {
      const files = readTree(context, folder);
      const result = reconcile(files);
      if (!result.ok)
        throw new ProblemsError(
          folder,
          result.problems,
          files,
          'cannot be adapted to its captures',
        );
      if (write) writeTree(context, folder, result.files);
      const { changes, notes } = result;
      printAnswer(context, shown, { changes, notes, written: write }, () =>
        describeReconciled(files, result, write, context),
      );
    });
};
