/**
 * `svc worlds schema check`: everything that is wrong with a world tree, each problem with its line;
 * also generated files that no longer fit the hand-written ones, or that somebody changed.
 */
import type { Command } from 'commander';
import { type GeneratedFile, generatedState, staleProblems } from '#language/artifacts/state.ts';
import { compileTree } from '#language/compile/compile.ts';
import { languageWarnings } from '#language/compile/warnings.ts';
import type { Contract } from '#language/contract.ts';
import type { Problem } from '#language/problem.ts';
import { addCommand, printAnswer } from '../../command.ts';
import type { Context } from '../../context.ts';
import { readTree } from '../../input.ts';
import { formatCount, formatJson } from '../../print.ts';
import { exitStatus, problemsError } from '../../report.ts';

type Checked = {
  problems: Problem[];
  contract: Contract | null;
  generated: GeneratedFile[];
};

/** Checks a tree as the service does too. */
export const checkTree = (files: ReturnType<typeof readTree>): Checked => {
  const compiled = compileTree(files);
  if (!compiled.ok) return { problems: compiled.problems, contract: null, generated: [] };
  const { contract, generated } = compiled;
  const tree = { files, generated, contract };
  return { problems: staleProblems(tree), contract, generated: generatedState(tree) };
};

/** How much there is of what a contract holds. */
export const countsOf = (contract: Contract): string =>
  [
    formatCount(contract.entities.length, 'entity', 'entities'),
    formatCount(contract.tools.length, 'tool'),
    formatCount(contract.api?.routes.length ?? 0, 'route'),
    formatCount(contract.tasks.length, 'task'),
  ].join(', ');

const stateText = (folder: string, generated: readonly GeneratedFile[]): string => {
  if (generated.every(({ state }) => state === 'current')) return 'generated files are current';
  return `not compiled yet: svc worlds schema compile ${folder}`;
};

const describe = (
  folder: string,
  contract: Contract,
  generated: readonly GeneratedFile[],
): string => `${folder} is sound: ${countsOf(contract)}; ${stateText(folder, generated)}`;

export const addCheck = (schema: Command, context: Context): void => {
  addCommand(schema, {
    usage: 'check <folder>',
    summary: 'everything that is wrong with a world tree; exit status 1 when something is',
    example: 'svc worlds schema check ./crm',
  })
    .option('--json', 'print the problems and the state of generated files as JSON')
    .action((folder: string, options: { json?: boolean }) => {
      const files = readTree(context, folder);
      const { problems, contract, generated } = checkTree(files);
      if (contract !== null && problems.length === 0) {
        const warnings = languageWarnings(contract, files);
        const answer = { status: 'ok', problems, warnings, generated };
        printAnswer(context, options, answer, () =>
          [
            ...warnings.map((warning) => `${context.colors.yellow('warning:')} ${warning}`),
            describe(folder, contract, generated),
          ].join('\n'),
        );
      } else if (options.json === true) {
        context.out.write(formatJson({ status: 'rejected', problems, generated }));
        context.setExitStatus(exitStatus.failed);
      } else if (contract === null) throw problemsError(folder, problems, files);
      else
        throw problemsError(folder, problems, files, 'holds generated files that are not current');
    });
};
