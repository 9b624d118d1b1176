/** Type of a benchmark's figures, their computation from samples, and their presentation. */

export type Figure = {
  name: string;
  value: number;
  unit:
    | 'sessions'
    | 'ms'
    | 'MB'
    | 'calls/s'
    | 'requests/s'
    | 'opens/s'
    | 'rows/s'
    | 'deliveries/min'
    | 'x'
    | 'each';
  /** Figure of the same work without the product, measured in the same run; null if nothing is comparable. */
  floor: number | null;
  /** Another product's figure, measured or published; null if there is none. */
  peer: number | null;
  target: number | null;
  better: 'lower' | 'higher';
};

/** Returns the value below which `share` (0 to 1) of the samples lie; nearest rank. */
export const percentile = (samples: readonly number[], share: number): number => {
  const sorted = [...samples].sort((a, b) => a - b);
  const rank = Math.max(1, Math.ceil(share * sorted.length));
  return sorted[rank - 1] ?? Number.NaN;
};

export const median = (samples: readonly number[]): number => percentile(samples, 0.5);

/** Runs the work one time after another and returns each run's milliseconds. */
export const sample = async (
  runs: number,
  work: (run: number) => Promise<unknown>,
): Promise<number[]> => {
  const samples: number[] = [];
  for (let run = 0; run < runs; run += 1) {
    const startedAt = performance.now();
    await work(run);
    samples.push(performance.now() - startedAt);
  }
  return samples;
};

const number = (value: number | null): string =>
  value === null ? '-' : value >= 100 ? value.toFixed(0) : value.toFixed(2);

const meets = ({ value, target, better }: Figure): string => {
  if (target === null) return '';
  return (better === 'lower' ? value <= target : value >= target) ? 'met' : 'MISSED';
};

/** Returns an aligned table of figures. */
export const formatTable = (figures: readonly Figure[]): string => {
  const rows = [
    ['figure', 'value', 'unit', 'floor', 'x floor', 'peer', 'target', ''],
    ...figures.map((figure) => [
      figure.name,
      number(figure.value),
      figure.unit,
      number(figure.floor),
      figure.floor === null ? '-' : (figure.value / figure.floor).toFixed(2),
      number(figure.peer),
      figure.target === null
        ? '-'
        : `${figure.better === 'lower' ? '<=' : '>='} ${number(figure.target)}`,
      meets(figure),
    ]),
  ];
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => (row[column] ?? '').length)),
  );
  return rows
    .map((row) =>
      row
        .map((cell, column) => {
          const width = widths[column] ?? 0;
          return column === 0 ? cell.padEnd(width) : cell.padStart(width);
        })
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
};
