/**
 * The order of test files: those that mostly wait are woven in among those that compute, so that neither
 * kind keeps the machine to itself, and what takes long begins before what is short. `vitest.config.ts` says which
 * project waits.
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
  'test/e2e/demo.test.ts',
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

export class WovenOrder extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const rank = ({ moduleId }: TestSpecification): number => {
      const at = longestFirst.indexOf(relative(this.ctx.config.root, moduleId));
      return at === -1 ? longestFirst.length : at;
    };
    const waits = ({ project }: TestSpecification): boolean => project.name === waiting;
    const ranked = sorted.toSorted((a, b) => rank(a) - rank(b));
    return weave(
      ranked.filter(waits),
      ranked.filter((file) => !waits(file)),
    );
  }
}
