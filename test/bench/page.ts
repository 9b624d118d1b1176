/** How measured values become parts of `docs/internals/benchmarks.md`, each between two marks of its own. */
import { readFile, writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { Figure } from './figure.ts';

/** What was measured, with the machine and the day. */
export type Stamped<Report> = Report & { machine: string; measuredOn: string };

/** A file beside the page. */
export const fileOf = (name: string): string =>
  fileURLToPath(new URL(`../../docs/internals/${name}`, import.meta.url));

/** A count as the page writes it. */
export const round = (value: number): string => Math.round(value).toLocaleString('en-US');

/** A row of a table. */
export const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;

/** Half the distance between the best and the worst round, in percent. */
export const spreadOf = ({ perSecond, rounds }: { perSecond: number; rounds: number[] }): number =>
  ((Math.max(...rounds) - Math.min(...rounds)) / 2 / perSecond) * 100;

const shown = (value: number | null): string =>
  value === null ? '' : value >= 100 ? round(value) : value.toFixed(2);

/** Figures with their floor, peer and target. */
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

/** A figure as a row: value, floor, the quotient of both, target. */
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

/** The marks between which a part stands. */
export const marksOf = (name: string): Marks => ({
  begin: `<!-- ${name}: begin -->`,
  end: `<!-- ${name}: end -->`,
});

/** Puts a part in the place of the one between the same marks. */
export const writePart = async ({ begin, end }: Marks, part: string): Promise<void> => {
  const page = await readFile(fileOf('benchmarks.md'), 'utf8');
  const [before, rest] = page.split(begin);
  const after = rest?.split(end)[1];
  if (after === undefined) throw new Error(`benchmarks.md has no ${begin} … ${end}`);
  await writeFile(fileOf('benchmarks.md'), `${before}${part}${after}`);
};

/** A report with the day and this machine. */
export const stamped = <Report extends object>(report: Report): Stamped<Report> => {
  const [first] = cpus();
  const model = first?.model.trim() ?? 'unknown';
  return {
    measuredOn: new Date().toISOString().slice(0, 10),
    machine: `${cpus().length} cores (${model}), Node ${process.version}`,
    ...report,
  };
};
