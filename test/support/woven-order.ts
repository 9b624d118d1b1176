/**
 * The order of test files: those that mostly wait are woven in among those that compute, so that neither
 * kind keeps the machine to itself. Within a project the file that took longest in the last run begins first, as it may
 * not be the last to end. `vitest.config.ts` says which project waits. Projects take turns, each for a stretch of its files: vitest keeps a process for a next file of the
 * same project, so that modules are loaded once for several, and ends it for one of another.
 */
import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { readTimes } from './times.ts';

/** The project of the files that wait. */
export const waiting = 'patient';

/** All of both, each in its own order: one of `few` after each so many of `many`, from the start on. */
export const weave = <Few, Many>(few: readonly Few[], many: readonly Many[]): (Few | Many)[] => {
  const stride = Math.max(1, Math.floor(many.length / Math.max(1, few.length)));
  const woven = few.flatMap((item, index): (Few | Many)[] => [
    item,
    ...many.slice(index * stride, (index + 1) * stride),
  ]);
  return [...woven, ...many.slice(few.length * stride)];
};

/** Stretches of each project: few, but so many that what the modules of their files hold does not fill the memory. */
const rounds = 5;

/** All of all lists: an equal part of each, then the next part of each, and so on; each list in its own order. */
export const takeTurns = <Item>(lists: readonly (readonly Item[])[], times: number): Item[] => {
  const cut = (list: readonly Item[], at: number): number => Math.floor((list.length * at) / times);
  return Array.from({ length: times }, (_, round) =>
    lists.flatMap((list) => list.slice(cut(list, round), cut(list, round + 1))),
  ).flat();
};

/** Infinite times are equal, which a difference would not say. */
const compare = (a: number, b: number): number => (a === b ? 0 : a < b ? -1 : 1);

export class WovenOrder extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const times = readTimes();
    const seconds = ({ moduleId }: TestSpecification): number =>
      times[relative(this.ctx.config.root, moduleId)] ?? Number.POSITIVE_INFINITY;
    const sorted = files.toSorted((a, b) => compare(seconds(b), seconds(a)));
    const filesOf = (name: string) => sorted.filter(({ project }) => project.name === name);
    const others = this.ctx.projects.map(({ name }) => name).filter((name) => name !== waiting);
    return weave(filesOf(waiting), takeTurns(others.map(filesOf), rounds));
  }
}
