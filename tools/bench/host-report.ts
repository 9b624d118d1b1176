/**
 * Writes the page `docs/internals/benchmarks.md` and its pictures from the results of a run. The measured values are
 * kept in `docs/internals/figures/host.json`, so that both can be rebuilt without measuring.
 */
import { writeFile } from 'node:fs/promises';
import type { HostReport } from './host.ts';
import { drawSoak, drawThroughput } from './host-chart.ts';
import { type Operation, operations, type ServerName, serverNames } from './host-servers.ts';
import {
  figureTable,
  fileOf,
  marksOf,
  round,
  row,
  type Stamped,
  spreadOf,
  stamped,
  writePart,
} from './page.ts';

export type KeptReport = Stamped<HostReport>;

/** Names of the servers in the page. */
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

const marks = marksOf('measured');

/** Returns the measured part of the page, between its marks. */
export const measuredPart = (report: KeptReport): string =>
  [
    marks.begin,
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
    marks.end,
  ].join('\n');

const writePage = async (report: KeptReport): Promise<void> => {
  await writePart(marks, measuredPart(report));
  await writeFile(fileOf('figures/host-throughput.svg'), drawThroughput(report));
  await writeFile(fileOf('figures/host-soak.svg'), drawSoak(report.soak));
};

/** Stores a whole run and writes page and pictures of it. */
export const writeReport = async (measured: HostReport): Promise<void> => {
  const report = stamped(measured);
  await writeFile(fileOf('figures/host.json'), `${JSON.stringify(report, null, 2)}\n`);
  await writePage(report);
};
