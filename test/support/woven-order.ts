/**
 * The order of test files: those that mostly wait are woven in among those that compute, so that neither
 * kind keeps the machine to itself, and what takes long begins before what is short. `vitest.config.ts` says which
 * project waits. Projects take turns, each for a stretch of its files: vitest keeps a process for a next file of the
 * same project, so that modules are loaded once for several, and ends it for one of another.
 */
import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** The project of the files that wait. */
export const waiting = 'patient';

/** The longest first, as none of them may be the last that runs; the others come after these. */
const longestFirst = [
  'test/contract/driver.contract.test.ts',
  'test/cluster/chart.test.ts',
  'test/cluster/backup.test.ts',
  'test/e2e/up.test.ts',
  'test/e2e/https.test.ts',
  'test/e2e/demo.test.ts',
  'test/contract/blobs.test.ts',
  'test/api/body-fields.test.ts',
  'test/api/page-walks.test.ts',
  'test/clients/schemathesis.test.ts',
  'test/clients/trace-clients.test.ts',
  'test/api/replicas.test.ts',
  'test/attacks/lists.test.ts',
  'test/api/day-cells.test.ts',
  'world-host-image/code-hosting/page.test.ts',
  'test/sweep/sweep.test.ts',
  'test/cluster/roll.test.ts',
  'test/cluster/kubernetes-faults.test.ts',
  'test/cluster/faults.test.ts',
  'test/sweep/losses.test.ts',
  'test/sweep/browsers.test.ts',
];

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

export class WovenOrder extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const rank = ({ moduleId }: TestSpecification): number => {
      const at = longestFirst.indexOf(relative(this.ctx.config.root, moduleId));
      return at === -1 ? longestFirst.length : at;
    };
    const ranked = sorted.toSorted((a, b) => rank(a) - rank(b));
    const filesOf = (name: string) => ranked.filter(({ project }) => project.name === name);
    const others = this.ctx.projects.map(({ name }) => name).filter((name) => name !== waiting);
    return weave(filesOf(waiting), takeTurns(others.map(filesOf), rounds));
  }
}
