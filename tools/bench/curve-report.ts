/**
 * Writes the part of `docs/internals/benchmarks.md` on opens a second, with its picture. The measured values are kept
 * in `docs/internals/figures/open-curve.json`, so that both can be rebuilt.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { Curve, Step } from './curve.ts';
import { at, picture, roundUp, text } from './svg.ts';

export type KeptCurve = Curve & { machine: string; measuredOn: string };

const begin = '<!-- opens: begin -->';
const end = '<!-- opens: end -->';

const ms = (value: number): string => `${value.toFixed(0)} ms`;

const rowOf = (
  { rate, served, refused, failed, p50Ms, p99Ms, cpuMs }: Step,
  name = `${rate}`,
): string =>
  `| ${name} | ${served} | ${refused} | ${failed} | ${ms(p50Ms)} | ${ms(p99Ms)} | ${cpuMs.toFixed(1)} ms |`;

/** Returns the measured part of the page, between its marks. */
export const curvePart = ({ steps, borne, overload, machine, measuredOn }: KeptCurve): string =>
  [
    begin,
    '',
    `Measured on ${measuredOn}, on ${machine}. Sustained: ${borne.rate} a second.`,
    '',
    '![Time until a session is ready, and refusals, against opens a second](figures/open-curve.svg)',
    '',
    '| opens a second | served | refused | failed | p50 | p99 | processor time a session |',
    '| - | -: | -: | -: | -: | -: | -: |',
    ...steps.map((step) => rowOf(step)),
    rowOf(overload, `${overload.rate}, twice the sustained rate`),
    '',
    `Refused clients got their answer within ${ms(overload.refusedP99Ms)} (p99). After the overload, at half of the`,
    `sustained rate, all sessions were served as usual again after ${ms(overload.recoveryMs)}.`,
    '',
    end,
  ].join('\n');

const graph = { width: 980, height: 220, left: 64, right: 40, top: 64 };

type Line = { kind: string; name: string; of(step: Step): number };

const lines: readonly Line[] = [
  { kind: 'slow', name: 'p99', of: ({ p99Ms }) => p99Ms },
  { kind: 'memory', name: 'p50', of: ({ p50Ms }) => p50Ms },
];

/** Draws milliseconds on a logarithmic scale, with the share of refused opens as bars below. */
export const drawCurve = ({ steps, borne }: Curve): string => {
  const inner = graph.width - graph.left - graph.right;
  const highestRate = Math.max(...steps.map(({ rate }) => rate));
  const highest = roundUp(Math.max(10, ...steps.map(({ p99Ms }) => p99Ms)));
  const bottom = graph.top + graph.height;
  const x = (rate: number): number => graph.left + (rate / highestRate) * inner;
  const y = (value: number): number =>
    bottom - (Math.log10(Math.max(1, value)) / Math.log10(highest)) * graph.height;
  const grid = [1, 10, 100, 1_000, 10_000]
    .filter((value) => value <= highest)
    .flatMap((value) => [
      `<line class="grid" x1="${graph.left}" x2="${graph.width - graph.right}" y1="${at(y(value))}" y2="${at(y(value))}"/>`,
      text(graph.left - 8, y(value) + 4, `${value}`, 'axis', 'end'),
    ]);
  const drawn = lines.flatMap(({ kind, name, of }) => {
    const last = steps.at(-1) as Step;
    return [
      `<polyline class="${kind}" points="${steps.map((step) => `${at(x(step.rate))},${at(y(of(step)))}`).join(' ')}"/>`,
      text(x(last.rate) + 6, y(of(last)) + 4, name, 'note'),
    ];
  });
  const refusals = steps.map((step) => {
    const share = step.refused / Math.max(1, step.served + step.refused);
    const percent = share === 0 ? '0' : `${Math.max(1, Math.round(share * 100))}`;
    return text(x(step.rate), bottom + 38, `${percent} %`, 'note', 'middle');
  });
  const mark = at(x(borne.rate));
  return picture(graph.width, bottom + 76, 'Opens a second', [
    text(28, 30, 'Time until a session is ready, against opens a second', 'title'),
    text(
      28,
      50,
      'milliseconds, each line a power of ten; dotted: the highest rate that is sustained',
      'note',
    ),
    ...grid,
    `<line class="mark" x1="${mark}" x2="${mark}" y1="${graph.top}" y2="${bottom}"/>`,
    ...drawn,
    ...steps.map(({ rate }) => text(x(rate), bottom + 18, `${rate}`, 'axis', 'middle')),
    ...refusals,
    text(
      graph.left + inner / 2,
      bottom + 60,
      'opens a second, and how many of a hundred were refused',
      'note',
      'middle',
    ),
  ]);
};

const fileOf = (name: string): string =>
  fileURLToPath(new URL(`../../docs/internals/${name}`, import.meta.url));

/** Stores a run and writes its part of the page and its picture. */
export const writeCurve = async (curve: Curve): Promise<void> => {
  const measuredOn = new Date().toISOString().slice(0, 10);
  const machine = `${cpus().length} cores (${cpus()[0]?.model.trim() ?? 'unknown'}), Node ${process.version}`;
  const kept: KeptCurve = { measuredOn, machine, ...curve };
  await writeFile(fileOf('figures/open-curve.json'), `${JSON.stringify(kept, null, 2)}\n`);
  const page = await readFile(fileOf('benchmarks.md'), 'utf8');
  const [before = '', rest = ''] = page.split(begin);
  const [, after = ''] = rest.split(end);
  await writeFile(fileOf('benchmarks.md'), `${before}${curvePart(kept)}${after}`);
  await writeFile(fileOf('figures/open-curve.svg'), drawCurve(kept));
};
