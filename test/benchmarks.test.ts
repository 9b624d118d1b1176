import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { drawSoak, drawThroughput } from './bench/host-chart.ts';
import { type KeptReport, measuredPart } from './bench/host-report.ts';

const read = (name: string): string =>
  readFileSync(new URL(`../docs/internals/${name}`, import.meta.url), 'utf8');

it('the page and the pictures of the benchmarks show what was measured', () => {
  const report = JSON.parse(read('figures/host.json')) as KeptReport;
  expect(read('benchmarks.md')).toContain(measuredPart(report));
  expect(read('figures/host-throughput.svg')).toBe(drawThroughput(report));
  expect(read('figures/host-soak.svg')).toBe(drawSoak(report.soak));
});
