/** Writes measured values as parts of `docs/internals/benchmarks.md`, each between two marks of its own. */
import { readFile, writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { Figure } from './figure.ts';

/** Results, with the machine and the day. */
export type Stamped<Report> = Report & { machine: string; measuredOn: string };

/** Returns the path of a file in the folder of the page. */
export const fileOf = (name: string): string =>
  fileURLToPath(new URL(`../../docs/internals/${name}`, import.meta.url));

/** Returns a count in the format of the page. */
export const round = (value: number): string => Math.round(value).toLocaleString('en-US');

/** Returns a row of a table. */
export const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;

/** Returns half the distance between the best and the worst round, in percent. */
export const spreadOf = ({ perSecond, rounds }: { perSecond: number; rounds: number[] }): number =>
  ((Math.max(...rounds) - Math.min(...rounds)) / 2 / perSecond) * 100;

const shown = (value: number | null): string =>
  value === null ? '' : value >= 100 ? round(value) : value.toFixed(2);

/** Returns a table of figures with their floor, peer and target. */
export const figureTable = (figures: readonly Figure[]): string[] => [
  row(['figure', 'value', 'floor', 'best peer', 'target', '']),
  row(['-', '-:', '-:', '-:', '-:', '-']),
  ...figures.map(({ name, value, unit, floor, peer, target, better }) => {
    const isMet = target === null || (better === 'lower' ? value <= target : value >= target);
    const sign = better === 'lower' ? '≤' : '≥';
    return row([
      `\`${name}\``,
      `${shown(value)} ${unit}`,
      shown(floor),
      shown(peer),
      target === null ? '' : `${sign} ${shown(target)}`,
      target === null ? '' : isMet ? 'met' : '**missed**',
    ]);
  }),
];

/** Returns a figure as a row: value, floor, their quotient, target. */
export const shownFigure = ({ name, value, unit, floor, target, better }: Figure): string => {
  const isMet = target === null || (better === 'lower' ? value <= target : value >= target);
  return row([
    `\`${name}\``,
    `${shown(value)} ${unit}`,
    shown(floor),
    floor === null ? '' : (value / floor).toFixed(2),
    target === null ? '' : `${better === 'lower' ? '≤' : '≥'} ${shown(target)}`,
    target === null ? '' : isMet ? 'met' : '**missed**',
  ]);
};

type Marks = { begin: string; end: string };

/** Returns the marks that enclose a part. */
export const marksOf = (name: string): Marks => ({
  begin: `<!-- ${name}: begin -->`,
  end: `<!-- ${name}: end -->`,
});

/** Replaces the part of the page between its marks. */
export const writePart = async ({ begin, end }: Marks, part: string): Promise<void> => {
  const page = await readFile(fileOf('benchmarks.md'), 'utf8');
  const [before, rest] = page.split(begin);
  const after = rest?.split(end)[1];
  if (after === undefined) throw new Error(`benchmarks.md has no ${begin} … ${end}`);
  await writeFile(fileOf('benchmarks.md'), `${before}${part}${after}`);
};

/** Returns a report with the day and this machine. */
export const stamped = <Report extends object>(report: Report): Stamped<Report> => {
  const [first] = cpus();
  const model = first?.model.trim() ?? 'unknown';
  return {
    measuredOn: new Date().toISOString().slice(0, 10),
    machine: `${cpus().length} cores (${model}), Node ${process.version}`,
    ...report,
  };
};
