/**
 * Draws what the host bench measured, as SVG pictures that follow the reader's light or dark theme:
 * bars for requests a second, lines for memory and p99 over a million requests.
 */
import type { HostReport } from './host.ts';
import { type Operation, operations, type ServerName, serverNames } from './host-servers.ts';
import type { SoakSample } from './host-soak.ts';

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

const style = `<style>
  :root { color-scheme: light dark }
  text { font: 13px ui-sans-serif, system-ui, -apple-system, "Segoe UI", sans-serif; fill: #3d4450 }
  .title { font-size: 17px; font-weight: 650; fill: #14181f }
  .heading { font-weight: 650; fill: #14181f }
  .note, .axis { font-size: 11.5px; fill: #6b7482 }
  .number { font-variant-numeric: tabular-nums; paint-order: stroke; stroke: #ffffff; stroke-width: 5px }
  .page { fill: #ffffff } .grid { stroke: #e4e8ee } .mark { stroke: #14181f; stroke-dasharray: 2 3 }
  .floor { fill: #c4ccd8 } .peer { fill: #9db4d6 } .ours { fill: #1f6feb } .strong { font-weight: 650 }
  .memory { stroke: #1f6feb } .slow { stroke: #c2571a }
  polyline { fill: none; stroke-width: 2; stroke-linejoin: round }
  @media (prefers-color-scheme: dark) {
    text { fill: #b6bfcc } .title, .heading { fill: #eef2f7 } .note, .axis { fill: #8a94a3 }
    .number { stroke: #12161c } .page { fill: #12161c } .grid { stroke: #272e38 } .mark { stroke: #eef2f7 }
    .floor { fill: #465061 } .peer { fill: #3f5f8f } .ours { fill: #4c93ff }
    .memory { stroke: #4c93ff } .slow { stroke: #f0883e }
  }
</style>`;

const picture = (width: number, height: number, title: string, parts: readonly string[]): string =>
  `${[
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img">`,
    `<title>${title}</title>`,
    style,
    `<rect class="page" width="${width}" height="${height}" rx="10"/>`,
    ...parts,
    '</svg>',
  ].join('\n')}\n`;

const at = (value: number): string => value.toFixed(1);

const text = (x: number, y: number, content: string, kind = '', anchor = 'start'): string =>
  `<text x="${at(x)}" y="${at(y)}" class="${kind}" text-anchor="${anchor}">${content}</text>`;

const thousands = (value: number): string => Math.round(value).toLocaleString('en-US');

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

/** Requests a second of every server, a panel for each kind of request. */
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

/** The next of 1, 2 and 5 times a power of ten. */
const roundUp = (value: number): number => {
  const power = 10 ** Math.floor(Math.log10(value));
  return ([1, 2, 5].find((step) => step * power >= value) ?? 10) * power;
};

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

/** Memory and p99 of one host while it is asked a million times. */
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
