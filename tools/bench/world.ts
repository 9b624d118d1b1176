/**
 * Measures how fast a world with code serves: `code-hosting` on a world host compared with emulate's GitHub, on the
 * same issues and the same five requests, over 16 connections and over one; and tools in both languages.
 */
import type { Figure } from './figure.ts';
import { loadGenerator } from './host-load.ts';
import { installPeers } from './host-peers-install.ts';
import { measureRounds, type Rounds } from './host-rounds.ts';
import { measureFirst } from './world-first.ts';
import {
  type FirstOperation,
  firstOperations,
  type WorldOperation,
  worldOperations,
} from './world-requests.ts';
import { type CodeHost, type CodeHostName, startCodeHosts } from './world-servers.ts';
import { startTemplate, type Template, templates } from './world-templates.ts';
import { benchTools } from './world-tools.ts';

/** Results of one code host with one kind of request, over 16 connections and over one. */
export type CodeHostRounds = {
  server: CodeHostName;
  operation: WorldOperation;
  many: Rounds;
  one: Rounds;
};

/** Results of another template with one kind of request. */
export type TemplateRounds = {
  template: string;
  operation: WorldOperation;
  many: Rounds;
  one: Rounds;
};

/** All results, for the page in `docs/`. */
export type WorldReport = {
  loadGenerator: string;
  measured: CodeHostRounds[];
  templates: TemplateRounds[];
  figures: Figure[];
};

type Options = { wants(name: string): boolean; say(line: string): void };

const many = { rounds: 5, seconds: 2, warmUpSeconds: 1 };
const one = { rounds: 3, seconds: 1, warmUpSeconds: 1, connections: 1 };

/** Targets: minimum share of the peer's requests a second, over 16 connections. */
const targetShares: Partial<Record<WorldOperation, number>> = { get: 0.5, list30: 1, create: 1 };
const targetOneMs: Partial<Record<WorldOperation, number>> = { get: 0.8 };

/** Returns the rounds of one server, without the server itself. */
const roundsOf = (
  wanted: CodeHost,
  measured: readonly (Rounds & { server: CodeHost })[],
): Rounds => {
  const found = measured.find(({ server }) => server === wanted);
  if (found === undefined) throw new Error(`${wanted.name} was not asked`);
  const { server, ...rounds } = found;
  return rounds;
};

const measureOperation = async (
  servers: readonly CodeHost[],
  operation: WorldOperation,
): Promise<CodeHostRounds[]> => {
  const requestsOf = ({ requests }: CodeHost) => requests.cycles[operation];
  const single = await measureRounds(servers, requestsOf, one);
  const crowd = await measureRounds(servers, requestsOf, many);
  return servers.map((server) => ({
    server: server.name,
    operation,
    many: roundsOf(server, crowd),
    one: roundsOf(server, single),
  }));
};

const figuresOf = (operation: WorldOperation, measured: readonly CodeHostRounds[]): Figure[] => {
  const of = (name: CodeHostName): CodeHostRounds => {
    const found = measured.find(({ server }) => server === name);
    if (found === undefined) throw new Error(`${name} was not asked for ${operation}`);
    return found;
  };
  const [floor, ours, peer] = [of('floor'), of('ours'), of('emulate')];
  const share = targetShares[operation];
  return [
    {
      name: `world.${operation}`,
      value: ours.many.perSecond,
      unit: 'requests/s',
      floor: floor.many.perSecond,
      peer: peer.many.perSecond,
      target: share === undefined ? null : share * peer.many.perSecond,
      better: 'higher',
    },
    {
      name: `world.${operation}.one`,
      value: ours.one.p50Ms,
      unit: 'ms',
      floor: floor.one.p50Ms,
      peer: peer.one.p50Ms,
      target: targetOneMs[operation] ?? null,
      better: 'lower',
    },
  ];
};

const describe = (server: string, { many, one }: Pick<CodeHostRounds, 'many' | 'one'>): string => {
  const cpu = many.cpuMicros === null ? '' : `, ${many.cpuMicros.toFixed(0)} µs of processor`;
  const crowd = `${many.perSecond.toFixed(0)}/s, p99 ${many.p99Ms.toFixed(1)} ms${cpu}`;
  const single = `${one.perSecond.toFixed(0)}/s, p50 ${one.p50Ms.toFixed(2)} ms`;
  return `  ${server}: over 16 connections ${crowd}; over one ${single}`;
};

const firstFigure = async (
  servers: readonly CodeHost[],
  operation: FirstOperation,
): Promise<Figure> => {
  const measured = new Map<CodeHostName, number>();
  for (const { name, url, requests } of servers) {
    measured.set(name, await measureFirst(url, requests.first[operation]));
  }
  return {
    name: `world.${operation}.first`,
    value: measured.get('ours') ?? Number.NaN,
    unit: 'ms',
    floor: measured.get('floor') ?? null,
    peer: measured.get('emulate') ?? null,
    target: null,
    better: 'lower',
  };
};

const compare = async ({ wants, say }: Options, report: WorldReport): Promise<void> => {
  const servers = await startCodeHosts(say);
  try {
    // Runs first, so that no session has received any of these requests before.
    for (const operation of firstOperations.filter((name) => wants(`world.${name}.first`))) {
      say(`sending each server requests that it never received: ${operation}`);
      report.figures.push(await firstFigure(servers, operation));
    }
    for (const operation of worldOperations.filter((name) => wants(`world.${name}`))) {
      say(`sending requests to all servers by ${loadGenerator}: ${operation}`);
      const measured = await measureOperation(servers, operation);
      for (const rounds of measured) say(describe(rounds.server, rounds));
      report.measured.push(...measured);
      report.figures.push(...figuresOf(operation, measured));
    }
  } finally {
    await Promise.all(servers.map((server) => server.stop()));
  }
};

const templateFigures = (name: string, { operation, many, one }: TemplateRounds): Figure[] => [
  {
    name: `world.${name}.${operation}`,
    value: many.perSecond,
    unit: 'requests/s',
    floor: null,
    peer: null,
    target: null,
    better: 'higher',
  },
  {
    name: `world.${name}.${operation}.one`,
    value: one.p50Ms,
    unit: 'ms',
    floor: null,
    peer: null,
    target: targetOneMs[operation] ?? null,
    better: 'lower',
  },
];

const measureTemplate = async (
  template: Template,
  { wants, say }: Options,
  report: WorldReport,
): Promise<void> => {
  const wanted = worldOperations.filter((one) => wants(`world.${template.name}.${one}`));
  if (wanted.length === 0) return;
  // They include the load generator, if wrk is not installed.
  await installPeers(say);
  say(`sending requests to ${template.slug} by ${loadGenerator}`);
  const host = await startTemplate(template);
  try {
    for (const operation of wanted) {
      const requestsOf = () => host.requests[operation];
      const [single] = await measureRounds([host], requestsOf, one);
      const [crowd] = await measureRounds([host], requestsOf, many);
      if (single === undefined || crowd === undefined) throw new Error('nothing was measured');
      const { server: _, ...alone } = single;
      const { server: __, ...together } = crowd;
      const rounds = { template: template.slug, operation, many: together, one: alone };
      say(describe(`${template.slug}, ${operation}`, rounds));
      report.templates.push(rounds);
      report.figures.push(...templateFigures(template.name, rounds));
    }
  } finally {
    await host.stop();
  }
};

/** Measures the figures `world.*`. */
export const benchWorld = async ({ wants, say }: Options): Promise<WorldReport> => {
  const report: WorldReport = { loadGenerator, measured: [], templates: [], figures: [] };
  if (worldOperations.some((name) => wants(`world.${name}`))) {
    if (loadGenerator !== 'wrk')
      say('wrk is not installed: autocannon sends the requests instead, and is slower');
    await installPeers(say);
    await compare({ wants, say }, report);
  }
  for (const template of templates) await measureTemplate(template, { wants, say }, report);
  if (wants('world.tool')) {
    say('calling tools in Python and TypeScript');
    report.figures.push(...(await benchTools(wants)));
  }
  return report;
};
