/**
 * `svc worlds schema`: commands that write, check and compile world trees, and print templates, JSON Schemas and types
 * for editors. None of them needs the service.
 */
import { basename } from 'node:path';
import { Argument, type Command } from 'commander';
import { AppError } from '#domain/error.ts';
import { summarizeTemplate, type TemplateSummary } from '#language/edit/template-summary.ts';
import { fileSchema, type SchemaFile, schemaFiles } from '#language/files/file-schemas.ts';
import { bundledTemplatesDir, readTemplateTree, templateSlugs } from '#runtime/templates.ts';
import type { ProblemsDetail } from '#wire/public-api/worlds/problem.ts';
import { writeEditorFiles } from '../files/editor-files.ts';
import { readTree } from '../files/input.ts';
import { writeTree } from '../files/write-tree.ts';
import type { Context, View } from '../terminal/context.ts';
import { formatJson } from '../terminal/print.ts';
import { formatFitted } from '../views/fitted-table.ts';
import { usageError } from '../views/report.ts';
import { firstSentence } from '../views/world.ts';
import { addCommand, printAnswer } from './command.ts';
import { addCheck, addCompile } from './schema-compile.ts';
import { addEntityAdd, addEntityRemove, addInit, addReconcile } from './schema-edit.ts';

const summarize = (slug: string): TemplateSummary => {
  const tree = readTemplateTree(bundledTemplatesDir, slug) ?? [];
  const result = summarizeTemplate(slug, tree);
  if (result.ok) return result.summary;
  const detail: ProblemsDetail = { problems: result.problems };
  throw new AppError('internal', `the template ${slug} does not compile`, { detail });
};

const tableOf = (summaries: readonly TemplateSummary[], view: View): string =>
  formatFitted(
    ['TEMPLATE', 'ENTITIES', 'TOOLS', 'ROUTES', 'TASKS', 'ROWS', 'DESCRIPTION'],
    summaries.map(({ slug, counts, description }) => [
      slug,
      ...[counts.entities, counts.tools, counts.routes, counts.tasks, counts.rows].map(String),
      firstSentence(description),
    ]),
    view,
  );

const addTemplates = (schema: Command, context: Context): void => {
  addCommand(schema, {
    usage: 'templates',
    summary: 'list the bundled templates',
    example: 'svc worlds schema templates',
  })
    .option('--json', 'print the summaries as JSON')
    .action((options: { json?: boolean }) => {
      const data = templateSlugs(bundledTemplatesDir).map(summarize);
      printAnswer(context, options, { data }, (view) => tableOf(data, view));
    });
};

/** Returns the schema's file name: `connector.toml` → `connector.schema.json`. */
const schemaName = (file: SchemaFile): string =>
  `${basename(file).replace(/\.(json|toml)$/, '')}.schema.json`;

const writeAll = (context: Context, folder: string): string => {
  const files = schemaFiles.map((file) => ({
    path: schemaName(file),
    content: new TextEncoder().encode(formatJson(fileSchema(file))),
  }));
  writeTree(context, folder, files);
  return files.map(({ path }) => `${folder}/${path}\n`).join('');
};

const addJsonSchema = (schema: Command, context: Context): void => {
  addCommand(schema, {
    usage: 'json-schema',
    summary: 'print or write JSON Schemas of the hand-written files, for editors',
    example: [
      'svc worlds schema json-schema connector.toml',
      'svc worlds schema json-schema --out ./schemas',
    ].join('\n'),
  })
    .addArgument(
      new Argument('[file]', 'the hand-written file whose schema is printed').choices(schemaFiles),
    )
    .option('--out <folder>', 'write the schemas of all files into a folder')
    .action((file: SchemaFile | undefined, { out }: { out?: string }) => {
      if ((file === undefined) === (out === undefined)) {
        throw usageError(`name a file (${schemaFiles.join(', ')}), or a folder with --out`);
      }
      const text = file === undefined ? writeAll(context, out ?? '') : formatJson(fileSchema(file));
      context.out.write(text);
    });
};

const addTypes = (schema: Command, context: Context): void => {
  addCommand(schema, {
    usage: 'types <folder>',
    summary: "write the types of user code into a world's folder, for editors",
    example: 'svc worlds schema types ./crm',
  })
    .option('--json', 'print the paths of the written files as JSON')
    .action((folder: string, options: { json?: boolean }) => {
      readTree(context, folder);
      const written = writeEditorFiles(context, folder);
      printAnswer(context, options, { folder, written }, () =>
        written.map((path) => `  ${path}`).join('\n'),
      );
    });
};

export const addSchema = (worlds: Command, context: Context): void => {
  const schema = worlds
    .command('schema')
    .description('write, check and compile world trees; no service is needed');
  addInit(schema, context);
  addTemplates(schema, context);
  addCheck(schema, context);
  addCompile(schema, context);
  const entity = schema.command('entity').description('entities in schema/world.json');
  addEntityAdd(entity, context);
  addEntityRemove(entity, context);
  addReconcile(schema, context);
  addJsonSchema(schema, context);
  addTypes(schema, context);
};
