/**
 * `svc worlds push`: creates the next version of a world from a folder.
 * The folder is compiled on this machine first, so that problems are shown with their lines. The push is based on the
 * version that was last recorded for the folder, by a pull, a push or the creation of the world. If the world has a
 * newer head, the push is refused.
 */
import { type Command, Option } from 'commander';
import { AppError } from '#domain/error.ts';
import { compileTree, replaceFiles } from '#language/compile/compile.ts';
import { noteBase, readBase } from '../files/base-note.ts';
import { readTree } from '../files/input.ts';
import { pushTree } from '../service/push.ts';
import { type Context, viewOf } from '../terminal/context.ts';
import { withProgress } from '../terminal/progress.ts';
import { ProblemsError } from '../views/report.ts';
import { describePush } from '../views/version.ts';
import {
  addCommand,
  clientFor,
  parseNumber,
  printAnswer,
  type RowOptions,
  serviceOf,
  withServiceBeside,
} from './command.ts';

type Options = RowOptions & { base?: number; data?: 'keep' | 'replace'; message?: string };

/** Adds to a refused push how to proceed with the newer head. */
const withWayOut = (error: unknown, slug: string, folder: string): unknown => {
  if (!(error instanceof AppError) || error.code !== 'conflict') return error;
  const { head } = error.detail as { head?: { number?: unknown } };
  if (typeof head?.number !== 'number') return error;
  const hint = `"svc worlds diff ${slug}@${head.number} ${folder}" shows how the folder differs from the head; --base ${head.number} replaces the head anyway`;
  const { code, message, detail, fields } = error;
  return new AppError(code, message, { detail: { ...detail, hint }, fields, cause: error.cause });
};

export const addWorldsPush = (worlds: Command, context: Context): void => {
  const command = addCommand(worlds, {
    usage: 'push <world> [folder]',
    summary: 'create the next version of a world from a folder (default: this one)',
    example: 'svc worlds push crm ./crm -m "deals have stages"\nsvc worlds push crm --base 4',
  })
    .option(
      '--base <number>',
      'number of the version that the folder is based on (default: as recorded in .svc-base.json, or the head)',
      parseNumber({ min: 1, max: 999_999_999, whole: true }),
    )
    .addOption(
      new Option(
        '--data <what>',
        'treatment of existing rows that did not come from a tree (default: keep)',
      ).choices(['keep', 'replace']),
    )
    .option('-m, --message <text>', 'reason recorded on the version');
  withServiceBeside(command).action(
    async (slug: string, given: string | undefined, options: Options) => {
      const folder = given ?? '.';
      const tree = readTree(context, folder);
      const compiled = compileTree(tree);
      if (!compiled.ok) throw new ProblemsError(folder, compiled.problems, tree);
      const service = serviceOf(options);
      const client = clientFor(context, service);
      const { message, data } = options;
      const request = {
        slug,
        tree: replaceFiles(tree, compiled.rewritten),
        base: {
          number: options.base,
          noted: (name: string) => readBase(context, folder, name),
        },
        options: {
          ...(message === undefined ? {} : { message }),
          ...(data === undefined ? {} : { data }),
        },
      };
      const progress = { out: context.err, step: `pushing ${slug}` };
      const pushed = await withProgress(progress, () => pushTree(client, request)).catch(
        (error: unknown) => {
          throw withWayOut(error, slug, folder);
        },
      );
      noteBase(context, folder, pushed.answer.slug, pushed.answer.id);
      printAnswer(context, service, pushed.answer, () => describePush(pushed, viewOf(context)));
    },
  );
};
