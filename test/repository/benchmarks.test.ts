import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { curvePart, drawCurve } from '../../tools/bench/curve-report.ts';
import { drawSoak, drawThroughput } from '../../tools/bench/host-chart.ts';
import { type KeptReport, measuredPart } from '../../tools/bench/host-report.ts';
import { type LargeReport, largePart } from '../../tools/bench/large-report.ts';
import { type KeptWorldReport, worldPart } from '../../tools/bench/world-report.ts';

const read = (name: string): string =>
  readFileSync(new URL(`../../docs/internals/${name}`, import.meta.url), 'utf8');

it('the page and the pictures of the benchmarks show the recorded measurements', () => {
  const report = JSON.parse(read('figures/host.json')) as KeptReport;
  const large = JSON.parse(read('figures/large.json')) as LargeReport;
  const world = JSON.parse(read('figures/world.json')) as KeptWorldReport;
  expect(read('benchmarks.md')).toContain(measuredPart(report));
  expect(read('benchmarks.md')).toContain(worldPart(world));
  expect(read('benchmarks.md')).toContain(largePart(large));
  expect(read('figures/host-throughput.svg')).toBe(drawThroughput(report));
  expect(read('figures/host-soak.svg')).toBe(drawSoak(report.soak));
});

it('the picture and the table of opens per second show each rate with its refusals', () => {
  const served = { served: 100, refused: 0, failed: 0, p50Ms: 12, p99Ms: 48, cpuMs: 9.5 };
  const borne = { ...served, rate: 45 };
  const beyond = { ...served, rate: 90, refused: 100, p99Ms: 300 };
  const overload = { ...beyond, refusedP99Ms: 20, recoveryMs: 900 };
  const curve = { steps: [borne, beyond], borne, overload };
  const picture = drawCurve(curve);
  for (const shown of ['>45<', '>90<', '>0 %<', '>50 %<', '>p99<'])
    expect(picture).toContain(shown);
  const kept = { ...curve, machine: '2 cores', measuredOn: '2026-11-23' };
  const part = curvePart(kept);
  expect(part).toContain('| 45 | 100 | 0 | 0 | 12 ms | 48 ms | 9.5 ms |');
  expect(part).toContain(
    '| 90, twice the sustained rate | 100 | 100 | 0 | 12 ms | 300 ms | 9.5 ms |',
  );
});
