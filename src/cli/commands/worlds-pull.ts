/**
 * `svc worlds pull`: writes the files of a version into a folder, and takes away those that it has no more. Files that
 * were changed there stay as they are unless it is told otherwise; files that no version knew stay in any case.
 */
import type { Command } from 'commander';
import { AppError } from '#domain/error.ts';
import { noteBase, readBase } from '../files/base-note.ts';
import { asPath } from '../files/input.ts';
import { type PullPlan, planPull } from '../files/tree-changes.ts';
import { changeTree } from '../files/write-tree.ts';
import { findNoted, findVersion, readFiles } from '../service/versions.ts';
import type { Context } from '../terminal/context.ts';
import { withProgress } from '../terminal/progress.ts';
import { describePull } from '../views/version.ts';
import { addCommand, clientFor, printAnswer, type ServiceOptions, withService } from './command.ts';

type Options = ServiceOptions & { force?: boolean };

const mostNamed = 20;

const refuseChanged = (folder: string, { changedHere }: PullPlan): AppError => {
  const named = changedHere.slice(0, mostNamed).map((path) => `  ${path}`);
  const more = changedHere.length - named.length;
  const files = [...named, ...(more > 0 ? [`  and ${more} more`] : [])].join('\n');
  const message = `${asPath(folder)} has changes that would be lost; nothing was written:\n${files}`;
  return new AppError('conflict', message, {
    detail: {
      files: changedHere,
      hint: 'push them, put them elsewhere, or overwrite them: --force',
    },
  });
};

export const addWorldsPull = (worlds: Command, context: Context): void => {
  const command = addCommand(worlds, {
    usage: 'pull <world> [folder]',
    summary:
      'write the files of a world, or of <slug>@<version>, into a folder (default: ./<slug>)',
    example: 'svc worlds pull crm\nsvc worlds pull crm@3 ./crm --force',
  }).option('--force', 'overwrite and remove files that were changed in the folder');
  withService(command).action(
    async (address: string, given: string | undefined, options: Options) => {
      const client = clientFor(context, options);
      const version = await findVersion(client, address);
      const { slug } = version;
      const folder = given ?? slug;
      const base = readBase(context, folder, slug);
      const noted = base.kind === 'noted' ? await findNoted(client, slug, base.id) : undefined;
      const plan = planPull(context, folder, version.files, noted?.files ?? []);
      if (plan.changedHere.length > 0 && options.force !== true) throw refuseChanged(folder, plan);
      const progress = { out: context.err, step: `pulling ${address}` };
      const files = await withProgress(progress, () => readFiles(client, version, plan.write));
      changeTree(context, folder, { write: files, remove: plan.remove });
      noteBase(context, folder, slug, version.id);
      const written = plan.write.map(({ path }) => path);
      const answer = { slug, folder, versionId: version.id, number: version.number };
      printAnswer(context, options, { ...answer, written, removed: plan.remove }, () =>
        describePull({ ...answer, written, removed: plan.remove }),
      );
    },
  );
};
