/**
 * Writes the part of `docs/internals/benchmarks.md` on imports and large worlds. The groups of figures are measured
 * separately, each by its prefix, and kept in `figures/large.json` until they are measured again.
 */
import { readFile, writeFile } from 'node:fs/promises';
import type { Figure } from './figure.ts';
import { fileOf, marksOf, type Stamped, shownFigure, stamped, writePart } from './page.ts';

/** Prefixes, in the order of the page. */
export const largeGroups = ['import', 'open.1m', 'query.1m', 'serve.1m'] as const;
export type LargeGroup = (typeof largeGroups)[number];

/** Results by group; a group is absent if it was not measured yet. */
export type LargeReport = Partial<Record<LargeGroup, Stamped<{ figures: Figure[] }>>>;

export const isLargeGroup = (prefix: string): prefix is LargeGroup =>
  (largeGroups as readonly string[]).includes(prefix);

const marks = marksOf('measured of large worlds');
const keptFile = fileOf('figures/large.json');

/** Returns the part of the page, with its marks. */
export const largePart = (report: LargeReport): string => {
  const groups = largeGroups.flatMap((group) => {
    const measured = report[group];
    if (measured === undefined) return [];
    const { measuredOn, machine, figures } = measured;
    return [
      `\`${group}\`, measured on ${measuredOn}, on ${machine}:`,
      [
        '| figure | value | floor | of the floor | target |  |',
        '| - | -: | -: | -: | -: | - |',
        ...figures.map(shownFigure),
      ].join('\n'),
    ];
  });
  return [marks.begin, ...groups, marks.end].join('\n\n');
};

/** Stores the figures of a group, and rewrites the part. */
export const writeLarge = async (group: LargeGroup, figures: Figure[]): Promise<void> => {
  const kept = JSON.parse(await readFile(keptFile, 'utf8')) as LargeReport;
  const report: LargeReport = { ...kept, [group]: stamped({ figures }) };
  await writeFile(keptFile, `${JSON.stringify(report, null, 2)}\n`);
  await writePart(marks, largePart(report));
};
