/**
 * Order of test files. Files that mostly wait are interleaved with those that compute, so that neither kind has the
 * machine to itself; `vitest.config.ts` names the project that waits. Within a project the file that took longest in
 * the last run begins first, so that it does not end last.
 *
 * Projects take turns, each with several files in a row. Vitest reuses a process for the next file of the same
 * project, so that modules are loaded once for several files, and ends the process for a file of another project.
 */
import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { readTimes } from './times.ts';

/** Project of the files that wait. */
export const waiting = 'patient';

/** Interleaves two lists, each in its own order: one of `few` before each batch of `many`. */
export const weave = <Few, Many>(few: readonly Few[], many: readonly Many[]): (Few | Many)[] => {
  const stride = Math.max(1, Math.floor(many.length / Math.max(1, few.length)));
  const woven = few.flatMap((item, index): (Few | Many)[] => [
    item,
    ...many.slice(index * stride, (index + 1) * stride),
  ]);
  return [...woven, ...many.slice(few.length * stride)];
};

/**
 * Number of turns of each project: so small that each turn has several files, and large enough that the modules loaded
 * in one turn do not fill the memory.
 */
const rounds = 5;

/**
 * Divides each list into parts and returns the first part of each, then the second, and so on; each list stays in its
 * own order.
 */
export const takeTurns = <Item>(lists: readonly (readonly Item[])[], times: number): Item[] => {
  const cut = (list: readonly Item[], at: number): number => Math.floor((list.length * at) / times);
  return Array.from({ length: times }, (_, round) =>
    lists.flatMap((list) => list.slice(cut(list, round), cut(list, round + 1))),
  ).flat();
};

/** Compares two times. Their difference would not do: for two infinite times, which are equal, it is not 0. */
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
