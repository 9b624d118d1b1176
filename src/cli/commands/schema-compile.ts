/**
 * `svc worlds schema check` and `compile`: report every problem of a world tree with its line, and write the generated
 * files next to the hand-written ones.
 */
import type { Command } from 'commander';
import type { TreeFile } from '#domain/world.ts';
import { type GeneratedFile, generatedState, staleProblems } from '#language/artifacts/state.ts';
import { compileTree } from '#language/compile/compile.ts';
import { languageWarnings } from '#language/compile/warnings.ts';
import type { Contract } from '#language/contract.ts';
import type { Problem } from '#language/problem.ts';
import { readTree } from '../files/input.ts';
import { changeTree } from '../files/write-tree.ts';
import { type Context, viewOf } from '../terminal/context.ts';
import { formatCount, formatJson, formatTable } from '../terminal/print.ts';
import { ProblemsError } from '../views/report.ts';
import { warningLines } from '../views/warnings.ts';
import { addCommand, printAnswer, setVerdict } from './command.ts';

type Checked = {
  problems: Problem[];
  contract: Contract | null;
  /** Probable mistakes in the tree. They are not searched for if there are problems. */
  warnings: string[];
  generated: GeneratedFile[];
};

/** Checks a tree in the same way as the service. */
export const checkTree = (files: ReturnType<typeof readTree>): Checked => {
  const compiled = compileTree(files);
  if (!compiled.ok)
    return { problems: compiled.problems, contract: null, warnings: [], generated: [] };
  const { contract, generated, baseRows } = compiled;
  const tree = { files, generated, contract };
  const problems = staleProblems(tree);
  const warnings = problems.length > 0 ? [] : languageWarnings(contract, files, baseRows);
  return { problems, contract, warnings, generated: generatedState(tree) };
};

/** Formats the numbers of entities, tools, routes and tasks of a contract. */
const countsOf = (contract: Contract): string =>
  [
    formatCount(contract.entities.length, 'entity', 'entities'),
    formatCount(contract.tools.length, 'tool'),
    formatCount(contract.api?.routes.length ?? 0, 'route'),
    formatCount(contract.tasks.length, 'task'),
  ].join(', ');

const stateText = (folder: string, generated: readonly GeneratedFile[]): string => {
  if (generated.every(({ state }) => state === 'current')) return 'generated files are up to date';
  return `not compiled yet: svc worlds schema compile ${folder}`;
};

const describeSound = (
  folder: string,
  contract: Contract,
  generated: readonly GeneratedFile[],
): string => `${folder} is valid: ${countsOf(contract)}; ${stateText(folder, generated)}`;

export const addCheck = (schema: Command, context: Context): void => {
  addCommand(schema, {
    usage: 'check <folder>',
    summary: 'check a world tree and list all problems; exit status 1 if there are any',
    example: 'svc worlds schema check ./crm',
    decides: true,
  })
    .option('--json', 'print the problems and the state of generated files as JSON')
    .action((folder: string, options: { json?: boolean }) => {
      const files = readTree(context, folder);
      const { problems, contract, warnings, generated } = checkTree(files);
      const isSound = contract !== null && problems.length === 0;
      const warned = warningLines(warnings, viewOf(context));
      setVerdict(context, isSound);
      if (isSound) {
        const answer = { status: 'ok', problems, warnings, generated };
        printAnswer(context, options, answer, () =>
          [...warned, describeSound(folder, contract, generated)].join('\n'),
        );
        return;
      }
      if (options.json === true) {
        context.out.writeExactly(formatJson({ status: 'rejected', problems, warnings, generated }));
        return;
      }
      for (const line of warned) context.out.write(`${line}\n`);
      if (contract === null) throw new ProblemsError(folder, problems, files);
      throw new ProblemsError(
        folder,
        problems,
        files,
        'has generated files that are not up to date',
      );
    });
};

/** Words for what compiling did to a generated file, by the state of the file before. */
const deeds: Record<GeneratedFile['state'], string> = {
  current: 'unchanged',
  missing: 'written',
  stale: 'renewed',
  edited: 'replaced, because it was changed by hand',
};

type Deed = GeneratedFile & { deed: string };

const toDeeds = (states: readonly GeneratedFile[], written: readonly TreeFile[]): Deed[] => {
  const paths = new Set(written.map(({ path }) => path));
  return states.map((file) => ({
    ...file,
    deed: paths.has(file.path) ? deeds[file.state] : 'removed, because it is no longer generated',
  }));
};

const describeDeeds = (all: readonly Deed[], counts: string): string =>
  [counts, formatTable(all.map(({ path, deed }) => [`  ${path}`, deed]))].join('\n');

export const addCompile = (schema: Command, context: Context): void => {
  addCommand(schema, {
    usage: 'compile <folder>',
    summary: 'write the generated files of a world',
    example: 'svc worlds schema compile ./crm',
  })
    .option('--json', 'print the list of files as JSON')
    .action((folder: string, options: { json?: boolean }) => {
      const files = readTree(context, folder);
      const compiled = compileTree(files);
      if (!compiled.ok) throw new ProblemsError(folder, compiled.problems, files);
      const { contract, generated } = compiled;
      const all = toDeeds(generatedState({ files, generated, contract }), generated);
      const changed = all.filter(({ state }) => state !== 'current').map(({ path }) => path);
      const written = generated.filter(({ path }) => changed.includes(path));
      const isWritten = new Set(generated.map(({ path }) => path));
      const remove = changed.filter((path) => !isWritten.has(path));
      changeTree(context, folder, { write: written, remove });
      printAnswer(context, options, { generated: all }, () =>
        describeDeeds(all, countsOf(contract)),
      );
    });
};
