/**
 * Writes the part on worlds with code of `docs/internals/benchmarks.md` from the results of a run, which are kept in
 * `docs/internals/figures/world.json`.
 */
import { writeFile } from 'node:fs/promises';
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
import type { CodeHostRounds, WorldReport } from './world.ts';
import { type WorldOperation, worldOperations } from './world-requests.ts';
import { type CodeHostName, codeHostNames } from './world-servers.ts';

export type KeptWorldReport = Stamped<WorldReport>;

const titles: Record<CodeHostName, string> = {
  floor: 'bare `node:http` + `node:sqlite`',
  ours: '**`code-hosting` on a world host**',
  emulate: 'emulate 0.12.2, GitHub',
};

const operationTitles: Record<WorldOperation, string> = {
  get: 'an issue',
  list30: 'a list of 30',
  list100: 'a list of 100',
  search: 'a search',
  create: 'a new comment',
};

const templateTitles: Record<WorldOperation, string> = {
  get: 'one whole',
  list30: 'a list of 30',
  list100: 'a list of 100',
  search: 'a search',
  create: 'a comment, a command',
};

type Cell = (measured: CodeHostRounds) => string;

/** Returns a table with a row for each code host and a column for each kind of request. */
const table = ({ measured }: WorldReport, cell: Cell): string[] => [
  row(['', ...worldOperations.map((operation) => operationTitles[operation])]),
  row(['-', ...worldOperations.map(() => '-:')]),
  ...codeHostNames.map((server) => {
    const own = worldOperations.map((operation) =>
      measured.find((one) => one.server === server && one.operation === operation),
    );
    return row([titles[server], ...own.map((one) => (one === undefined ? '' : cell(one)))]);
  }),
];

const templateTitle = (slug: string): string => `**\`${slug}\`**`;

/** Returns the table of the other templates: a row for each, a column for each kind of request. */
const templateTable = ({ templates = [] }: WorldReport): string[] => {
  const slugs = [...new Set(templates.map(({ template }) => template))];
  const cell = (slug: string, operation: WorldOperation): string => {
    const own = templates.find((one) => one.template === slug && one.operation === operation);
    if (own === undefined) return '';
    const { many, one } = own;
    return `${round(many.perSecond)}/s, ${micros(many.cpuMicros)}${one.p50Ms.toFixed(2)} ms`;
  };
  return slugs.length === 0
    ? []
    : [
        'The other templates: requests a second and processor time of a request over 16 connections, p50 over one:',
        '',
        row(['', ...worldOperations.map((operation) => templateTitles[operation])]),
        row(['-', ...worldOperations.map(() => '-:')]),
        ...slugs.map((slug) =>
          row([templateTitle(slug), ...worldOperations.map((operation) => cell(slug, operation))]),
        ),
        '',
      ];
};

const micros = (value: number | null): string => (value === null ? '' : `${round(value)} µs, `);

const marks = marksOf('measured of worlds');

/** Returns the measured part of the page, between its marks. */
export const worldPart = (report: KeptWorldReport): string =>
  [
    marks.begin,
    '',
    `Measured on ${report.measuredOn}, by ${report.loadGenerator}, on ${report.machine}.`,
    '',
    'Requests a second over 16 connections:',
    '',
    ...table(report, ({ many }) => round(many.perSecond)),
    '',
    'Processor time of a request, of the server with its workers; p99; and half the distance between the best and',
    'the worst round:',
    '',
    ...table(
      report,
      ({ many }) =>
        `${micros(many.cpuMicros)}${many.p99Ms.toFixed(1)} ms, ±${spreadOf(many).toFixed(0)} %`,
    ),
    '',
    'Over one connection, p50 and p99:',
    '',
    ...table(report, ({ one }) => `${one.p50Ms.toFixed(2)} ms, ${one.p99Ms.toFixed(1)} ms`),
    '',
    ...templateTable(report),
    ...figureTable(report.figures),
    '',
    marks.end,
  ].join('\n');

/** Stores a whole run and writes its part of the page. */
export const writeWorldReport = async (measured: WorldReport): Promise<void> => {
  const report = stamped(measured);
  await writeFile(fileOf('figures/world.json'), `${JSON.stringify(report, null, 2)}\n`);
  await writePart(marks, worldPart(report));
};
