/**
 * `svc worlds schema reconcile`: fits the data model to what the vendor really answered, as `captures/`
 * holds it. It shows the difference; only `--write` applies it.
 */
import type { Command } from 'commander';
import { reconcile } from '#language/edit/reconcile/reconcile.ts';
import { addCommand, printAnswer } from '../../command.ts';
import type { Context } from '../../context.ts';
import { readTree } from '../../input.ts';
import { formatCount } from '../../print.ts';
import { problemsError } from '../../report.ts';
import { writeTree } from '../../write-tree.ts';
import { formatDiff, formatReasons } from './edits.ts';

type Options = { write?: boolean; json?: boolean };

type Reconciled = Extract<ReturnType<typeof reconcile>, { ok: true }>;

const describe = (
  files: ReturnType<typeof readTree>,
  { files: changed, changes, notes }: Reconciled,
  isWritten: boolean,
  { colors }: Context,
): string => {
  const told = notes.map((note) => colors.dim(`note: ${note}`));
  if (changes.length === 0) return ['the data model fits the captures', ...told].join('\n');
  const count = formatCount(changes.length, 'change');
  const end = isWritten ? `${count} written` : `${count}, not written: add --write to apply`;
  return [formatDiff(files, changed, colors), '', formatReasons(changes), ...told, end].join('\n');
};

export const addReconcile = (schema: Command, context: Context): void => {
  addCommand(schema, {
    usage: 'reconcile <folder>',
    summary: 'fit the data model to what captures/ holds, and show the difference',
    example: 'svc worlds schema reconcile ./crm\nsvc worlds schema reconcile ./crm --write',
  })
    .option('--write', 'apply the difference')
    .option('--json', 'print the changes as JSON')
    .action((folder: string, { write = false, ...shown }: Options) => {
      const files = readTree(context, folder);
      const result = reconcile(files);
      if (!result.ok)
        throw problemsError(folder, result.problems, files, 'cannot be fitted to its captures');
      if (write) writeTree(context, folder, result.files);
      const { changes, notes } = result;
      printAnswer(context, shown, { changes, notes, written: write }, () =>
        describe(files, result, write, context),
      );
    });
};
