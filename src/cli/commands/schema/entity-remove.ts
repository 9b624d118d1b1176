/** `svc worlds schema entity remove`: removes an entity that nothing refers to. */
import type { Command } from 'commander';
import { removeEntity } from '#language/edit/remove-entity.ts';
import { addCommand, printAnswer } from '../../command.ts';
import type { Context } from '../../context.ts';
import { readTree } from '../../input.ts';
import { problemsError } from '../../report.ts';
import { writeTree } from '../../write-tree.ts';
import { formatDiff } from './edits.ts';

export const addEntityRemove = (entity: Command, context: Context): void => {
  addCommand(entity, {
    usage: 'remove <folder> <name>',
    summary: 'remove an entity; refused, naming what, while something refers to it',
    example: 'svc worlds schema entity remove ./crm contacts',
  })
    .option('--json', 'print the changes as JSON')
    .action((folder: string, name: string, options: { json?: boolean }) => {
      const files = readTree(context, folder);
      const result = removeEntity(files, name);
      if (!result.ok) throw problemsError(folder, result.problems, files, `keeps "${name}"`);
      writeTree(context, folder, result.files);
      const { changes, notes } = result;
      printAnswer(context, options, { changes, notes }, () =>
        [formatDiff(files, result.files, context.colors), ...notes].join('\n'),
      );
    });
};
