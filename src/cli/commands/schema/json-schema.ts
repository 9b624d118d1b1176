/**
 * `svc worlds schema json-schema`: JSON Schemas of the hand-written files, so that editors complete
 * and check them.
 */
import { basename } from 'node:path';
import { Argument, type Command } from 'commander';
import { fileSchema, type SchemaFile, schemaFiles } from '#language/files/file-schemas.ts';
import { addCommand } from '../../command.ts';
import type { Context } from '../../context.ts';
import { formatJson } from '../../print.ts';
import { usageError } from '../../report.ts';
import { writeTree } from '../../write-tree.ts';

/** `connector.toml` → `connector.schema.json` */
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

export const addJsonSchema = (schema: Command, context: Context): void => {
  addCommand(schema, {
    usage: 'json-schema',
    summary: 'JSON Schemas of the hand-written files, for editors',
    example: [
      'svc worlds schema json-schema connector.toml',
      'svc worlds schema json-schema --out ./schemas',
    ].join('\n'),
  })
    .addArgument(new Argument('[file]', 'the file whose schema is printed').choices(schemaFiles))
    .option('--out <folder>', 'write the schemas of all files into a folder')
    .action((file: SchemaFile | undefined, { out }: { out?: string }) => {
      if ((file === undefined) === (out === undefined)) {
        throw usageError(`name a file (${schemaFiles.join(', ')}), or a folder with --out`);
      }
      const text = file === undefined ? writeAll(context, out ?? '') : formatJson(fileSchema(file));
      context.out.write(text);
    });
};
