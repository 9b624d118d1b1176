/** `svc worlds schema compile`: writes the generated files of a world beside its hand-written ones. */
import type { Command } from 'commander';
import type { TreeFile } from '#domain/world.ts';
import { type GeneratedFile, generatedState } from '#language/artifacts/state.ts';
import { compileTree } from '#language/compile/compile.ts';
import { addCommand, printAnswer } from '../../command.ts';
import type { Context } from '../../context.ts';
import { readTree } from '../../input.ts';
import { formatTable } from '../../print.ts';
import { problemsError } from '../../report.ts';
import { removeFiles, writeTree } from '../../write-tree.ts';
import { countsOf } from './check.ts';

/** What compiling did to a file, by what it was before. */
const deeds: Record<GeneratedFile['state'], string> = {
  current: 'unchanged',
  missing: 'written',
  stale: 'renewed',
  edited: 'replaced, it had been changed by hand',
};

type Deed = GeneratedFile & { deed: string };

const toDeeds = (states: readonly GeneratedFile[], written: readonly TreeFile[]): Deed[] => {
  const paths = new Set(written.map(({ path }) => path));
  return states.map((file) => ({
    ...file,
    deed: paths.has(file.path) ? deeds[file.state] : 'removed, it is not generated any more',
  }));
};

const describe = (all: readonly Deed[], counts: string): string =>
  [counts, formatTable(all.map(({ path, deed }) => [`  ${path}`, deed]))].join('\n');

export const addCompile = (schema: Command, context: Context): void => {
  addCommand(schema, {
    usage: 'compile <folder>',
    summary: 'write the generated files of a world',
    example: 'svc worlds schema compile ./crm',
  })
    .option('--json', 'print what was written as JSON')
    .action((folder: string, options: { json?: boolean }) => {
      const files = readTree(context, folder);
      const compiled = compileTree(files);
      if (!compiled.ok) throw problemsError(folder, compiled.problems, files);
      const { contract, generated } = compiled;
      const all = toDeeds(generatedState({ files, generated, contract }), generated);
      const changed = all.filter(({ state }) => state !== 'current').map(({ path }) => path);
      const written = generated.filter(({ path }) => changed.includes(path));
      const isWritten = new Set(generated.map(({ path }) => path));
      writeTree(context, folder, written);
      removeFiles(
        context,
        folder,
        changed.filter((path) => !isWritten.has(path)),
      );
      printAnswer(context, options, { generated: all }, () => describe(all, countsOf(contract)));
    });
};
