/** `svc worlds schema entity add`: adds an entity to `schema/world.json`. */
import { type Command, InvalidArgumentError } from 'commander';
import { addEntity, fieldTypes, type NewField } from '#language/edit/add-entity.ts';
import { addCommand, printAnswer } from '../../command.ts';
import type { Context } from '../../context.ts';
import { readTree } from '../../input.ts';
import { problemsError } from '../../report.ts';
import { writeTree } from '../../write-tree.ts';
import { formatDiff } from './edits.ts';

type Options = { field?: NewField[]; key?: string[]; json?: boolean };

/** `name:type`; `name?` is a field that rows may lack, `type?` one that may be null. */
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
      `a field, repeatable; "name?:" rows may lack it, "type?" it may be null; types: ${fieldTypes.join(', ')}`,
      parseField,
    )
    .option('--key <fields>', 'primary key, separated by commas (default: id)', parseKey)
    .option('--json', 'print the changes as JSON')
    .action((folder: string, name: string, { field = [], key, ...shown }: Options) => {
      const files = readTree(context, folder);
      const primaryKey = key === undefined ? {} : { primaryKey: key };
      const result = addEntity(files, { name, fields: field, ...primaryKey });
      if (!result.ok) throw problemsError(folder, result.problems, files, `cannot have "${name}"`);
      writeTree(context, folder, result.files);
      const { changes, notes } = result;
      printAnswer(context, shown, { changes, notes }, () =>
        formatDiff(files, result.files, context.colors),
      );
    });
};
