/**
 * The page `docs/internals/benchmarks.md` and its pictures, made of what a run measured. The measured values are
 * kept beside them, `docs/internals/figures/host.json`, so that they can be made again without measuring.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { Figure } from './figure.ts';
import type { HostReport, Throughput } from './host.ts';
import { drawSoak, drawThroughput } from './host-chart.ts';
import { type Operation, operations, type ServerName, serverNames } from './host-servers.ts';

export type KeptReport = HostReport & { machine: string; measuredOn: string };

const fileOf = (name: string): string =>
  fileURLToPath(new URL(`../../docs/internals/${name}`, import.meta.url));

/** How servers are called in the page. */
export const titles: Record<ServerName, string> = {
  floor: 'bare `node:http` + `node:sqlite`',
  ours: '**the world host**',
  emulate: 'emulate 0.12.2',
  'json-server': 'json-server 1.0.0-beta.15',
  mockoon: 'Mockoon CLI 9.9.0',
};

export const operationTitles: Record<Operation, string> = {
  get: 'GET one',
  list100: 'GET 100',
  patch: 'PATCH',
  post: 'POST',
};

const round = (value: number): string => Math.round(value).toLocaleString('en-US');

const spreadOf = ({ perSecond, rounds }: Throughput): number =>
  ((Math.max(...rounds) - Math.min(...rounds)) / 2 / perSecond) * 100;

const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;

const throughputTable = ({ throughput, idle }: HostReport): string[] => {
  const measured = (server: ServerName, operation: Operation) =>
    throughput.find((one) => one.server === server && one.operation === operation);
  const cell = (server: ServerName, operation: Operation): string => {
    const [own, floor] = [measured(server, operation), measured('floor', operation)];
    if (own === undefined || floor === undefined) return '';
    return `${round(own.perSecond)} (${(own.perSecond / floor.perSecond).toFixed(2)})`;
  };
  const rssOf = (server: ServerName): string => {
    const rss = idle.find((one) => one.server === server)?.rssMb ?? null;
    return rss === null ? '' : `${round(rss)} MB`;
  };
  return [
    row(['', ...operations.map((operation) => operationTitles[operation]), 'idle memory']),
    row(['-', ...operations.map(() => '-:'), '-:']),
    ...serverNames.map((server) =>
      row([
        titles[server],
        ...operations.map((operation) => cell(server, operation)),
        rssOf(server),
      ]),
    ),
  ];
};

const costTable = ({ throughput }: HostReport): string[] => {
  const cell = (server: ServerName, operation: Operation): string => {
    const own = throughput.find((one) => one.server === server && one.operation === operation);
    if (own === undefined) return '';
    const cpu = own.cpuMicros === null ? '' : `${round(own.cpuMicros)} µs, `;
    return `${cpu}${own.p99Ms.toFixed(1)} ms, ±${spreadOf(own).toFixed(0)} %`;
  };
  return [
    row(['', ...operations.map((operation) => operationTitles[operation])]),
    row(['-', ...operations.map(() => '-:')]),
    ...serverNames.map((server) =>
      row([titles[server], ...operations.map((operation) => cell(server, operation))]),
    ),
  ];
};

const shown = (value: number | null): string =>
  value === null ? '' : value >= 100 ? round(value) : value.toFixed(2);

const figureTable = (figures: readonly Figure[]): string[] => [
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
      isMet ? 'met' : '**missed**',
    ]);
  }),
];

const begin = '<!-- measured: begin -->';
const end = '<!-- measured: end -->';

/** The measured part of the page, between its marks. */
export const measuredPart = (report: KeptReport): string =>
  [
    begin,
    '',
    `Measured on ${report.measuredOn}, by ${report.loadGenerator}, on ${report.machine}.`,
    '',
    '![Requests a second of the host, a bare server and three peers](figures/host-throughput.svg)',
    '',
    'Requests a second, and in brackets as a share of the bare server:',
    '',
    ...throughputTable(report),
    '',
    'Processor time of the server for a request, p99, and half the distance between the best and the',
    'worst round:',
    '',
    ...costTable(report),
    '',
    '![Memory and p99 over a million requests](figures/host-soak.svg)',
    '',
    ...figureTable(report.figures),
    '',
    end,
  ].join('\n');

const writePage = async (report: KeptReport): Promise<void> => {
  const page = await readFile(fileOf('benchmarks.md'), 'utf8');
  const [before = '', rest = ''] = page.split(begin);
  const [, after = ''] = rest.split(end);
  await writeFile(fileOf('benchmarks.md'), `${before}${measuredPart(report)}${after}`);
  await writeFile(fileOf('figures/host-throughput.svg'), drawThroughput(report));
  await writeFile(fileOf('figures/host-soak.svg'), drawSoak(report.soak));
};

const machine = (): string => {
  const [first] = cpus();
  return `${cpus().length} cores (${first?.model.trim() ?? 'unknown'}), Node ${process.version}`;
};

/** Keeps a whole run and makes page and pictures of it. */
export const writeReport = async (measured: HostReport): Promise<void> => {
  const measuredOn = new Date().toISOString().slice(0, 10);
  const report: KeptReport = { measuredOn, machine: machine(), ...measured };
  await writeFile(fileOf('figures/host.json'), `${JSON.stringify(report, null, 2)}\n`);
  await writePage(report);
};
