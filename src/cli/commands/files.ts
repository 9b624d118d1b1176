/** `svc files`: lists, uploads, downloads, moves and deletes files of the project. */
import { isAbsolute, join, resolve } from 'node:path';
import type { Command } from 'commander';
import PQueue from 'p-queue';
import { AppError } from '#domain/error.ts';
import { limits } from '#domain/limits.ts';
import type { Client } from '#wire/client.ts';
import * as api from '#wire/public-api/operations.ts';
import { findLocalFiles } from '../files/local-files.ts';
import { findRemote, getFile, putFile, readRemote, walkRemote } from '../service/project-files.ts';
import type { Context } from '../terminal/context.ts';
import { formatCount } from '../terminal/print.ts';
import { type Progress, withProgress } from '../terminal/progress.ts';
import { listenForStop, stopReason } from '../terminal/stopping.ts';
import { listFolder } from '../views/files.ts';
import { usageError } from '../views/report.ts';
import {
  addCommand,
  clientFor,
  given,
  parseNumber,
  printAnswer,
  type ServiceOptions,
  withService,
} from './command.ts';
import { addFileConnectors } from './file-connectors.ts';
import { addRequestCommand } from './request-command.ts';

/** Maximum number of concurrent transfers. */
const atOnce = 4;

const addList = (files: Command, context: Context): void => {
  addRequestCommand(files, context, {
    usage: 'ls [folder]',
    summary: 'list the folders and files in a folder, by name',
    example: ['svc files ls', 'svc files ls reports/2026 --limit 200'].join('\n'),
    options: (command) =>
      command
        .option(
          '--limit <number>',
          'maximum number of files, and of folders, on a page',
          parseNumber({ min: 1, max: limits.filesPageMax, whole: true }),
          limits.pageDefault,
        )
        .option('--cursor <cursor>', 'the cursor that the previous page printed'),
    operation: api.listFiles,
    input: ([prefix = ''], { limit, cursor }: { limit: number; cursor?: string }) => ({
      query: { prefix, limit, ...given('cursor', cursor) },
    }),
    text: (body, view) => {
      const more =
        body.nextCursor === null ? [] : [`--cursor ${body.nextCursor} shows the next page`];
      return [listFolder(body, view), ...more].join('\n');
    },
  });
};

/**
 * Does the work for each item, for several items concurrently. Stops at the first failure, or when the stop signal
 * aborts.
 */
const withEach = async <Item>(
  items: AsyncIterable<Item> | Iterable<Item>,
  work: (item: Item, signal: AbortSignal) => Promise<void>,
): Promise<void> => {
  const stopping = listenForStop();
  const failed = new AbortController();
  const signal = AbortSignal.any([stopping.signal, failed.signal]);
  const queue = new PQueue({ concurrency: atOnce });
  let failure: { error: unknown } | undefined;
  const fail = (error: unknown): void => {
    failure ??= { error };
    failed.abort(error);
  };
  try {
    for await (const item of items) {
      if (signal.aborted) break;
      void queue.add(() => (signal.aborted ? undefined : work(item, signal).catch(fail)));
      await queue.onSizeLessThan(1);
    }
    await queue.onIdle();
    if (stopping.signal.aborted) throw stopping.signal.reason;
    if (failure !== undefined) throw stopReason(stopping, failure.error);
  } finally {
    stopping.release();
  }
};

type Tally = Record<string, number>;

const counting =
  (tally: Tally, { showStep }: Progress, verb: string) =>
  (what: string) => {
    tally[what] = (tally[what] ?? 0) + 1;
    const done = Object.values(tally).reduce((sum, each) => sum + each, 0);
    showStep(`${verb} files: ${done}`);
  };

const tallyText = (tally: Tally): string =>
  Object.entries(tally)
    .map(([what, count]) => `${formatCount(count, 'file')} ${what}`)
    .join(', ') || 'no files';

type PutOptions = ServiceOptions & { overwrite?: boolean; type?: string };

/** Returns the target path of a file. The file goes below `to` if `to` is a folder, or if a folder is uploaded. */
const targetOf = (to: string, path: string, isFolder: boolean): string => {
  if (to === '' || to === '/') return path;
  if (isFolder || to.endsWith('/')) return `${to.replace(/\/$/, '')}/${path}`;
  return to;
};

const addPut = (files: Command, context: Context): void => {
  const command = addCommand(files, {
    usage: 'put <source> [path]',
    summary:
      'upload a file, or a folder with its contents; files that are already there are skipped',
    example: [
      'svc files put may.csv reports/may.csv',
      'svc files put ./reports reports --overwrite',
    ].join('\n'),
  })
    .option('--overwrite', 'replace files that differ')
    .option('--type <type>', "media type (default: by the ending of the file's name)");
  withService(command).action(
    async (source: string, to: string | undefined, options: PutOptions) => {
      const client = clientFor(context, options);
      const { files: found, isFolder, left } = await findLocalFiles(resolve(context.cwd, source));
      const tally: Tally = {};
      await withProgress({ out: context.err, step: 'sending files' }, async (progress) => {
        const count = counting(tally, progress, 'sending');
        for (const link of left) progress.print(`left out: ${link} is not a regular file\n`);
        await withEach(found, async ({ at, path }, signal) => {
          const target = targetOf(to ?? '', path, isFolder);
          const { overwrite = false, type: contentType } = options;
          count(await putFile(client, { at, path: target, overwrite, contentType }, signal));
        });
      });
      printAnswer(context, options, { ...tally, left: left.length }, () => tallyText(tally));
    },
  );
};

type GetOptions = ServiceOptions;

const writeOut = async (context: Context, client: Client, path: string): Promise<void> => {
  const found = await findRemote(client, path);
  if (found === undefined) throw new AppError('not_found', `there is no file at "${path}"`);
  const decoder = new TextDecoder();
  for await (const piece of await readRemote(client, found, new AbortController().signal)) {
    context.out.writeExactly(decoder.decode(piece, { stream: true }));
    await context.out.drained();
  }
  context.out.writeExactly(decoder.decode());
};

/** Yields the files to download with their local paths: the named file, or all files below the named folder. */
async function* wantedFor(client: Client, path: string, to: string) {
  const name = path.replace(/\/$/, '').split('/').at(-1) ?? '';
  const isFile = !path.endsWith('/') && (await findRemote(client, path)) !== undefined;
  if (isFile) {
    yield { path, at: to.endsWith('/') ? join(to, name) : to };
    return;
  }
  const above = path === '' || path === '/' ? '' : `${path.replace(/\/$/, '')}/`;
  let isEmpty = true;
  for await (const file of walkRemote(client, above)) {
    isEmpty = false;
    yield { path: file.path, at: join(to, file.path.slice(above.length)) };
  }
  if (isEmpty) throw new AppError('not_found', `there is no file at "${path}", and none below it`);
}

const addGet = (files: Command, context: Context): void => {
  const command = addCommand(files, {
    usage: 'get <path> [to]',
    summary: 'download a file, or a folder with its contents; unchanged files are skipped',
    example: [
      'svc files get reports/may.csv',
      'svc files get reports ./reports',
      'svc files get note.txt -',
    ].join('\n'),
  });
  withService(command).action(async (path: string, to: string | undefined, options: GetOptions) => {
    const client = clientFor(context, options);
    if (to === '-') {
      if (options.json === true) throw usageError('give --json or -, not both');
      await writeOut(context, client, path);
      return;
    }
    const name = path.replace(/\/$/, '').split('/').at(-1) ?? '';
    const given = to ?? (name === '' ? '.' : name);
    const target = isAbsolute(given) ? given : `${context.cwd}/${given}`;
    const tally: Tally = {};
    await withProgress({ out: context.err, step: 'fetching files' }, async (progress) => {
      const count = counting(tally, progress, 'fetching');
      await withEach(wantedFor(client, path, target), async (wanted, signal) => {
        count(await getFile(client, wanted, signal));
      });
    });
    printAnswer(context, options, tally, () => tallyText(tally));
  });
};

const addRest = (files: Command, context: Context): void => {
  addRequestCommand(files, context, {
    usage: 'mv <path> <to>',
    summary: 'move a file or a folder; if <to> ends with "/", it is the target folder',
    example: 'svc files mv reports/may.csv archive/',
    operation: api.moveFile,
    input: ([fromPath, toPath]) => ({ body: { fromPath, toPath } }),
    text: ({ moved }) => `${formatCount(moved, 'file')} moved`,
  });
  addRequestCommand(files, context, {
    usage: 'rm <path>',
    summary: 'delete a file; with --recursive also a folder and its contents',
    example: 'svc files rm reports/2025 --recursive',
    options: (command) => command.option('-r, --recursive', 'also delete a folder'),
    operation: api.deleteFile,
    input: async ([path], { recursive }: { recursive?: boolean }, client) => {
      if (recursive !== true && (await findRemote(client(), path)) === undefined) {
        throw usageError(`"${path}" is not a file; --recursive deletes a folder with its contents`);
      }
      return { query: { path } };
    },
    text: ({ deleted }) => `${formatCount(deleted, 'file')} deleted`,
  });
  addRequestCommand(files, context, {
    usage: 'mkdir <folder>',
    summary: 'create a folder and its parents',
    example: 'svc files mkdir reports/2026',
    operation: api.createFolder,
    input: ([path]) => ({ body: { path } }),
    text: ({ path }) => `${path}/`,
  });
};

export const addFiles = (program: Command, context: Context): void => {
  const files = program.command('files').description('files of the project');
  addList(files, context);
  addGet(files, context);
  addPut(files, context);
  addRest(files, context);
  addFileConnectors(files, context);
};
