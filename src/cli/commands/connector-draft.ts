/** `svc worlds connector draft`: writes the first version of a world from an OpenAPI document or a HAR file. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { AppError } from '#domain/error.ts';
import type { TreeFile } from '#domain/world.ts';
import { type Draft, draftWorld } from '#mirror/draft/draft.ts';
import { apiFromExchanges } from '#mirror/draft/from-exchanges.ts';
import { apiFromOpenApi } from '#mirror/draft/from-openapi.ts';
import { readHar } from '#mirror/draft/har.ts';
import { parseJson } from '../files/input.ts';
import { changeTree } from '../files/write-tree.ts';
import type { Context } from '../terminal/context.ts';
import { describeDraft } from '../views/draft.ts';
import { ProblemsError } from '../views/report.ts';
import { addCommand, printAnswer } from './command.ts';

type Options = { name?: string; force?: boolean; json?: boolean };

const readDraft = async (context: Context, source: string, { name }: Options): Promise<Draft> => {
  const path = resolve(context.cwd, source);
  if (!existsSync(path)) throw new AppError('invalid', `there is no file ${source}`);
  const title = name === undefined ? {} : { title: name };
  if (/\.har$/i.test(source)) {
    const seen = readHar(parseJson(readFileSync(path, 'utf8'), source), source);
    const { api, marks } = apiFromExchanges(seen, title);
    return draftWorld(api, marks);
  }
  // The reader is a large module, and only this branch needs it.
  const { readOpenApi } = await import('#mirror/draft/read-openapi.ts');
  const { document, marks: unread } = await readOpenApi(path, source);
  const { api, marks } = apiFromOpenApi(document);
  return draftWorld({ ...api, ...title }, [...unread, ...marks]);
};

/** Returns the files of a draft. Throws if the draft does not compile, which would be a fault of this program. */
export const compiledFiles = (folder: string, { files, problems }: Draft): TreeFile[] => {
  if (problems.length === 0) return files;
  throw new ProblemsError(folder, problems, files, 'could not be drafted');
};

/** Refuses a folder that is not empty, unless `--force` is given. */
export const refuseFilled = (context: Context, folder: string, { force }: Options): void => {
  const root = resolve(context.cwd, folder);
  if (force === true || !existsSync(root)) return;
  if (readdirSync(root).every((name) => name.startsWith('.'))) return;
  throw new AppError('conflict', `${folder} is not empty`, {
    detail: {
      hint: 'name another folder, or add --force to overwrite the files that a draft writes',
    },
  });
};

const draft = async (context: Context, source: string, folder: string, options: Options) => {
  refuseFilled(context, folder, options);
  const made = await readDraft(context, source, options);
  changeTree(context, folder, { write: compiledFiles(folder, made), remove: [] });
  const { entities, operations, marks } = made;
  printAnswer(context, options, { folder, entities, operations, marks }, (view) =>
    describeDraft(folder, made, view),
  );
};

export const addConnectorDraft = (connector: Command, context: Context): void => {
  addCommand(connector, {
    usage: 'draft <source> <folder>',
    summary: 'draft a world in a folder from an OpenAPI document or a HAR file (.har)',
    example: [
      'svc worlds connector draft openapi.yaml ./crm',
      'svc worlds connector draft session.har ./crm --name CRM',
    ].join('\n'),
  })
    .option('--name <text>', 'name of the world (default: the title in the source)')
    .option('--force', 'write into the folder even if it is not empty')
    .option('--json', 'print a summary of the draft as JSON')
    .action((source: string, folder: string, options: Options) =>
      draft(context, source, folder, options),
    );
};
