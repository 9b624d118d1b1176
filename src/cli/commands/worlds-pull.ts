/**
 * `svc worlds pull`: writes the files of a version into a folder, and removes those that the version no longer has.
 * Files that were changed in the folder are left alone unless `--force` is given. Files that are in no version are
 * always left alone. With `--data`, the rows of the version are written too, into a folder that is not part of the
 * world.
 */
import { rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Command } from 'commander';
import { AppError } from '#domain/error.ts';
import type { Client } from '#wire/client.ts';
import type { VersionDetail } from '#wire/public-api/worlds/version.ts';
import { noteBase, readBase } from '../files/base-note.ts';
import { asPath } from '../files/input.ts';
import { fileSink, type Sink } from '../files/row-writer.ts';
import { type PullPlan, planPull } from '../files/tree-changes.ts';
import { changeTree } from '../files/write-tree.ts';
import { readPages } from '../service/read-rows.ts';
import { findNoted, findVersion, readFiles } from '../service/versions.ts';
import type { Context } from '../terminal/context.ts';
import { formatCount } from '../terminal/print.ts';
import { withProgress } from '../terminal/progress.ts';
import { listenForStop, stopReason } from '../terminal/stopping.ts';
import { describePull } from '../views/version.ts';
import {
  addCommand,
  addressWith,
  addWorldVersion,
  clientFor,
  printAnswer,
  type RowOptions,
  serviceOf,
  withServiceBeside,
} from './command.ts';

type Options = RowOptions & { force?: boolean; data?: boolean; version?: string };

const mostNamed = 20;

const refuseChanged = (folder: string, { changedHere }: PullPlan): AppError => {
  const named = changedHere.slice(0, mostNamed).map((path) => `  ${path}`);
  const more = changedHere.length - named.length;
  const files = [...named, ...(more > 0 ? [`  and ${more} more`] : [])].join('\n');
  const message = `${asPath(folder)} has changes that would be lost; nothing was written:\n${files}`;
  return new AppError('conflict', message, {
    detail: {
      files: changedHere,
      hint: 'push the changes, move the files elsewhere, or overwrite them with --force',
    },
  });
};

/** Name of the folder for the rows, below the folder of the world. A push sends no path that begins with this name. */
const rowsFolder = join('outputs', 'data');

/**
 * Writes the rows of each entity that has any, and removes the files of entities without rows. Returns the written
 * paths.
 */
const pullRows = async (
  context: Context,
  client: Client,
  version: VersionDetail,
  folder: string,
): Promise<string[]> => {
  const { entityCounts } = version;
  const written: string[] = [];
  const gone: string[] = [];
  const stopping = listenForStop();
  const sinks: Sink[] = [];
  const step = `pulling the rows of ${version.slug}`;
  try {
    await withProgress({ out: context.err, step }, async ({ showStep }) => {
      for (const [entity, count] of Object.entries(entityCounts)) {
        const path = join(rowsFolder, `${entity}.jsonl`);
        const target = resolve(context.cwd, folder, path);
        if (count === 0) {
          gone.push(target);
          continue;
        }
        const sink = fileSink(target);
        sinks.push(sink);
        let read = 0;
        for await (const rows of readPages(client, { version, entity, signal: stopping.signal })) {
          stopping.signal.throwIfAborted();
          await sink.write(rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
          read += rows.length;
          showStep(
            `${step}: ${read.toLocaleString('en-US')} of ${formatCount(count, 'row')} of ${entity}`,
          );
        }
        await sink.close();
        written.push(path);
      }
      for (const target of gone) rmSync(target, { force: true });
    });
  } catch (error) {
    await Promise.all(sinks.map((sink) => sink.abandon()));
    throw stopReason(stopping, error);
  } finally {
    stopping.release();
  }
  return written;
};

export const addWorldsPull = (worlds: Command, context: Context): void => {
  const command = addCommand(worlds, {
    usage: 'pull <world> [folder]',
    summary:
      'write the files of a world, or of <slug>@<version>, into a folder (default: ./<slug>)',
    example: 'svc worlds pull crm\nsvc worlds pull crm@3 ./crm --force\nsvc worlds pull crm --data',
  })
    .option('--force', 'overwrite and remove files that were changed in the folder')
    .option(
      '--data',
      `also write the rows of the version as JSONL, one file for each entity, into ${rowsFolder} of the folder`,
    );
  withServiceBeside(addWorldVersion(command)).action(
    async (world: string, given: string | undefined, options: Options) => {
      const address = addressWith(world, options.version);
      const service = serviceOf(options);
      const client = clientFor(context, service);
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
      const rows =
        options.data === true ? await pullRows(context, client, version, folder) : undefined;
      const answer = {
        ...{ slug, folder, versionId: version.id, number: version.number },
        ...{ written, removed: plan.remove },
        ...(rows === undefined ? {} : { rows }),
      };
      printAnswer(context, service, answer, () => describePull(answer));
    },
  );
};
