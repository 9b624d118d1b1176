/** Reporter that prints the times of a run: the slowest files, and the sum of each project. It also stores them. */
import { relative } from 'node:path';
import type { Reporter, TestModule, Vitest } from 'vitest/node';
import { keepTimes } from './times.ts';

/** Time of a file in a run, with its imports and hooks, and its number of tests. */
export type FileTime = { file: string; project: string; seconds: number; tests: number };

const shown = 30;

const row = (seconds: number, text: string): string =>
  `${seconds.toFixed(1).padStart(8)} s  ${text}`;

/** Returns the lines of the table: the sum of each project, then the slowest files, slowest first. */
export const timeTable = (files: readonly FileTime[]): string[] => {
  const sum = (of: readonly FileTime[]) => of.reduce((total, { seconds }) => total + seconds, 0);
  const byProject = Object.entries(Object.groupBy(files, ({ project }) => project))
    .map(([project, of = []]) => ({
      seconds: sum(of),
      text: `${project}: ${of.length} files, ${of.reduce((total, { tests }) => total + tests, 0)} tests`,
    }))
    .sort((a, b) => b.seconds - a.seconds);
  const slowest = files.toSorted((a, b) => b.seconds - a.seconds).slice(0, shown);
  return [
    'Seconds of each project, several files at a time:',
    ...byProject.map(({ seconds, text }) => row(seconds, text)),
    `The ${slowest.length} slowest files:`,
    ...slowest.map(({ seconds, file }) => row(seconds, file)),
  ];
};

const fileTime = (module: TestModule, root: string): FileTime => {
  const { collectDuration, setupDuration, duration } = module.diagnostic();
  return {
    file: relative(root, module.moduleId),
    project: module.project.name,
    seconds: (collectDuration + setupDuration + duration) / 1_000,
    tests: [...module.children.allTests()].length,
  };
};

export class TimeReporter implements Reporter {
  #root = '';

  onInit(vitest: Vitest): void {
    this.#root = vitest.config.root;
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    const files = modules.map((module) => fileTime(module, this.#root));
    keepTimes(Object.fromEntries(files.map(({ file, seconds }) => [file, round(seconds)])));
    console.log(`\n${timeTable(files).join('\n')}\n`);
  }
}

const round = (seconds: number): number => Math.round(seconds * 10) / 10;
