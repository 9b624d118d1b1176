/**
 * Draws the results of the host benchmark as SVG pictures that follow the reader's light or dark theme: bars for
 * requests a second, lines for memory and p99 over a million requests.
 */
import type { HostReport } from './host.ts';
import { type Operation, operations, type ServerName, serverNames } from './host-servers.ts';
import type { SoakSample } from './host-soak.ts';
import { at, picture, roundUp, text, thousands } from './svg.ts';

const names: Record<ServerName, string> = {
  floor: 'bare node:http + sqlite',
  ours: 'world host',
  emulate: 'emulate',
  'json-server': 'json-server',
  mockoon: 'Mockoon CLI',
};

const headings: Record<Operation, string> = {
  get: 'GET a row',
  list100: 'GET 100 rows',
  patch: 'PATCH a row',
  post: 'POST a row',
};

const panel = { width: 470, height: 196, label: 156, bar: 20, step: 29, top: 40 };

const kindOf = (server: ServerName): string =>
  server === 'floor' || server === 'ours' ? server : 'peer';

const drawPanel = (
  report: HostReport,
  operation: Operation,
  left: number,
  top: number,
): string[] => {
  const bars = serverNames.flatMap(
    (server) =>
      report.throughput.find((one) => one.server === server && one.operation === operation) ?? [],
  );
  const room = panel.width - panel.label - 84;
  const scale = room / Math.max(...bars.map(({ perSecond }) => perSecond));
  const target = report.figures.find(({ name }) => name === `host.${operation}`)?.target ?? null;
  const start = left + panel.label;
  const parts = [text(left, top + 22, headings[operation], 'heading')];
  const numbers: string[] = [];
  for (const [index, { server, perSecond }] of bars.entries()) {
    const y = top + panel.top + index * panel.step;
    const length = Math.max(2, perSecond * scale);
    const strong = server === 'ours' ? 'strong' : '';
    parts.push(
      text(start - 10, y + 14.5, names[server], strong, 'end'),
      `<rect class="${kindOf(server)}" x="${at(start)}" y="${at(y)}" width="${at(length)}" height="${panel.bar}" rx="3"/>`,
    );
    numbers.push(text(start + length + 8, y + 14.5, thousands(perSecond), `number ${strong}`));
  }
  if (target === null) return [...parts, ...numbers];
  const x = at(start + target * scale);
  const bottom = top + panel.top + bars.length * panel.step - 5;
  parts.push(`<line class="mark" x1="${x}" x2="${x}" y1="${top + panel.top - 5}" y2="${bottom}"/>`);
  return [...parts, ...numbers];
};

/** Draws requests a second of every server, one panel for each kind of request. */
export const drawThroughput = (report: HostReport): string => {
  const [width, head] = [2 * panel.width + 84, 64];
  const panels = operations.flatMap((operation, index) =>
    drawPanel(
      report,
      operation,
      28 + (index % 2) * (panel.width + 28),
      head + Math.floor(index / 2) * panel.height,
    ),
  );
  const about =
    'requests a second over 16 connections, 1,000 rows of 7 fields; higher is better; dotted: the target';
  return picture(width, head + 2 * panel.height + 14, 'Requests a second', [
    text(28, 34, 'The world host beside a bare server and three stateful peers', 'title'),
    text(28, 54, about, 'note'),
    ...panels,
  ]);
};

const graph = { width: 980, height: 150, left: 64, right: 28 };

type Line = { heading: string; unit: string; kind: string; of(sample: SoakSample): number };

const drawLine = (samples: readonly SoakSample[], line: Line, top: number): string[] => {
  const inner = graph.width - graph.left - graph.right;
  const last = samples.at(-1)?.requests ?? 1;
  const highest = roundUp(Math.max(...samples.map(line.of)));
  const x = (requests: number): number => graph.left + (requests / last) * inner;
  const y = (value: number): number => top + 30 + (1 - value / highest) * (graph.height - 50);
  const grid = [0, highest / 2, highest].flatMap((value) => [
    `<line class="grid" x1="${graph.left}" x2="${graph.width - graph.right}" y1="${at(y(value))}" y2="${at(y(value))}"/>`,
    text(
      graph.left - 8,
      y(value) + 4,
      Number.isInteger(value) ? thousands(value) : value.toFixed(1),
      'axis',
      'end',
    ),
  ]);
  const points = samples.map((sample) => `${at(x(sample.requests))},${at(y(line.of(sample)))}`);
  return [
    text(graph.left, top + 16, `${line.heading}, ${line.unit}`, 'heading'),
    ...grid,
    `<polyline class="${line.kind}" points="${points.join(' ')}"/>`,
  ];
};

/** Draws memory and p99 of one host over a million requests. */
export const drawSoak = (samples: readonly SoakSample[]): string => {
  const [top, gap] = [60, 164];
  const last = samples.at(-1)?.requests ?? 1;
  const inner = graph.width - graph.left - graph.right;
  const ticks = [0, 250_000, 500_000, 750_000, 1_000_000].map((requests) =>
    text(
      graph.left + (requests / last) * inner,
      top + 2 * gap,
      thousands(requests),
      'axis',
      'middle',
    ),
  );
  return picture(graph.width, top + 2 * gap + 40, 'A million requests in a row', [
    text(28, 34, 'A million requests in a row to one host', 'title'),
    ...drawLine(
      samples,
      { heading: 'Resident memory', unit: 'MB', kind: 'memory', of: ({ rssMb }) => rssMb ?? 0 },
      top,
    ),
    ...drawLine(
      samples,
      { heading: 'Slowest hundredth', unit: 'ms', kind: 'slow', of: ({ p99Ms }) => p99Ms },
      top + gap,
    ),
    ...ticks,
    text(graph.left + inner / 2, top + 2 * gap + 22, 'requests so far', 'note', 'middle'),
  ]);
};
