/**
 * Runs `make bench`: the product's figures, their floor and their target, all from one run on this machine. Prints a
 * table and writes `bench.json`. `--only <prefix>` runs the part whose figures begin so; `--write docs` also rewrites
 * that part of the page, if the page has one.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { startPostgres } from '../../src/cli/up/postgres.ts';
import { migrate } from '../../src/control/db/core/migrate.ts';
import { execute } from '../../test/support/database/sql.ts';
import { startNetwork } from '../../test/support/programs/network.ts';
import { dockerAnswers } from '../../test/support/programs/prepare-docker.ts';
import { benchAuthor } from './author.ts';
import { benchBrowser } from './browser.ts';
import { benchBrowserService } from './browser-service.ts';
import { benchCall } from './call.ts';
import { benchCallCost } from './call-cost.ts';
import { benchCurve, figuresOfCurve } from './curve.ts';
import { writeCurve } from './curve-report.ts';
import { benchDensity } from './density.ts';
import { benchDocker } from './docker.ts';
import { type Figure, formatTable } from './figure.ts';
import { type Floor, measureFloor } from './floor.ts';
import { benchGateway } from './gateway.ts';
import { benchGrade, benchGrades } from './grade.ts';
import { benchHost, type HostReport } from './host.ts';
import { writeReport } from './host-report.ts';
import { benchReset } from './host-reset.ts';
import { benchImport } from './import.ts';
import { benchImportService } from './import-service.ts';
import { benchIngest } from './ingest.ts';
import { benchIngestHostile } from './ingest-hostile.ts';
import { benchIngestLarge, ingestLargeNames } from './ingest-large.ts';
import { benchLanguage } from './language.ts';
import { isLargeGroup, largeGroups, writeLarge } from './large-report.ts';
import { benchMcp } from './mcp.ts';
import { benchOpen, prepareWorlds } from './open.ts';
import { benchOpenBesideImport } from './open-beside-import.ts';
import { benchLarge } from './open-large.ts';
import { benchOrchestrator } from './orchestrator.ts';
import { benchBurst, benchPoisson } from './poisson.ts';
import { benchPoolView } from './pool-view.ts';
import { benchPush } from './push.ts';
import { benchResources } from './resources.ts';
import { benchSessionCost } from './session-cost.ts';
import { benchUiList } from './ui-list.ts';
import { benchWorld, type WorldReport } from './world.ts';
import { writeWorldReport } from './world-report.ts';

const outputFile = fileURLToPath(new URL('../../bench.json', import.meta.url));
const say = (line: string): void => console.error(line);

const { values: given } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    write: { type: 'string', default: '' },
    /** For `resources` and `ingest`: number of observations that the database writes. */
    rows: { type: 'string', default: '1000000' },
    /** For `ingest`: number of observations that are reported through the API. */
    tell: { type: 'string', default: '100000' },
  },
});
/** Parts with another name than the prefix of their figures. */
const parts: Readonly<Record<string, string>> = { author: 'dev' };
const values = { ...given, only: parts[given.only] ?? given.only };
const writesDocs = values.write === 'docs';
if (values.write !== '' && !writesDocs) throw new Error('--write takes "docs"');
const written = ['host', 'world', 'open.curve', ...largeGroups];
if (writesDocs && !written.includes(values.only)) {
  throw new Error(`--write docs needs --only with one of ${written.join(', ')}`);
}
const wants = (prefix: string): boolean =>
  prefix.startsWith(values.only) || values.only.startsWith(prefix);

type Server = { pid: number; url(database: string): string };

const freshDatabase = async (server: Server, name: string): Promise<string> => {
  await execute(server.url('postgres'), `create database ${name}`);
  await migrate(server.url(name));
  return server.url(name);
};

const benchProcess = async (server: Server): Promise<Figure[]> => {
  const databaseUrl = await freshDatabase(server, 'bench_process');
  say('measuring the floor: round trip and commit');
  const floor: Floor = await measureFloor(databaseUrl);
  say(`  round trip ${floor.roundTripMs.toFixed(2)} ms, commit ${floor.commitMs.toFixed(2)} ms`);
  const network = await startNetwork({
    databaseUrl,
    poolSize: 2,
    poolMax: 40,
    env: { SVC_LOG_LEVEL: 'warn' },
  });
  try {
    await prepareWorlds(network);
    const figures: Figure[] = [];
    if (wants('open.warm') || wants('open.reuse')) {
      say('opening sessions on warm hosts');
      figures.push(...(await benchOpen(network, floor)));
    }
    if (wants('call.cpu')) {
      say('measuring what a call costs');
      figures.push(...(await benchCallCost(network, databaseUrl, server)));
    }
    if (['call.tool.p50', 'call.tool.throughput'].some(wants)) {
      say('calling tools');
      figures.push(...(await benchCall(network, floor)));
    }
    if (wants('mcp')) {
      say('calling a tool by MCP and by …/calls');
      figures.push(...(await benchMcp(network)));
    }
    if (wants('grade.throughput')) {
      say('requesting 1,000 grades at once');
      figures.push(...(await benchGrades(network)));
    }
    return figures;
  } finally {
    await network.stop();
  }
};

const wantsProcess = ['open.warm', 'open.reuse', 'call', 'mcp', 'grade.throughput'].some(wants);
const wantsServer = [
  'open',
  'query',
  'serve',
  'call',
  'mcp',
  'grade.throughput',
  'session',
  'push',
  'ingest',
  'resources',
  'import.cli',
  'import.beside',
  'orchestrator.view',
  'browser.open',
].some(wants);

const benchServed = async (server: Server): Promise<Figure[]> => {
  const figures: Figure[] = [];
  if (wants('orchestrator.view')) {
    say('reading the view of 10,000 hosts');
    figures.push(...(await benchPoolView(await freshDatabase(server, 'bench_view'))));
  }
  if (wantsProcess) figures.push(...(await benchProcess(server)));
  if (wants('session')) {
    say('opening and closing sessions one after another');
    const databaseUrl = await freshDatabase(server, 'bench_session');
    figures.push(...(await benchSessionCost(databaseUrl, server, say)));
  }
  if (wants('push')) {
    say('posting 12,500 webhooks');
    figures.push(...(await benchPush(await freshDatabase(server, 'bench_push'))));
  }
  if (wants('ingest.rows') || wants('ingest.processor')) {
    say('ingesting 60,000 observations in 600 batches');
    const databaseUrl = await freshDatabase(server, 'bench_ingest');
    figures.push(...(await benchIngest(databaseUrl, server, tmpdir())));
  }
  if (wants('ingest.hostile')) {
    say('ingesting 300 KB, and opening sessions, during hostile requests');
    const databaseUrl = await freshDatabase(server, 'bench_hostile');
    figures.push(...(await benchIngestHostile(databaseUrl, say)));
  }
  if (ingestLargeNames.some(wants)) {
    const spans = { written: Number(values.rows), result: Number(values.tell) };
    say(`reading, reporting and deleting in a project of ${spans.written} observations`);
    const databaseUrl = await freshDatabase(server, 'bench_ingest_large');
    figures.push(...(await benchIngestLarge(databaseUrl, spans, wants, say)));
  }
  if (wants('resources')) {
    const rows = Number(values.rows);
    say(`reading from ${rows} observations`);
    const databaseUrl = await freshDatabase(server, 'bench_resources');
    figures.push(...(await benchResources(databaseUrl, rows, say)));
  }
  if (wants('import.cli')) {
    say('importing 1,000,000 rows into a world');
    const databaseUrl = await freshDatabase(server, 'bench_import');
    figures.push(...(await benchImportService(databaseUrl, say)));
  }
  if (wants('import.beside')) {
    say('opening sessions during an import of 1,000,000 rows');
    const databaseUrl = await freshDatabase(server, 'bench_beside');
    figures.push(...(await benchOpenBesideImport(databaseUrl, say)));
  }
  if (['open.1m', 'query.1m', 'serve.1m'].some(wants)) {
    say('making worlds of 1,000,000 rows');
    figures.push(...(await benchLarge(await freshDatabase(server, 'bench_large'), wants, say)));
  }
  if (wants('open.poisson')) {
    say('opening 45 sessions a second for a minute');
    figures.push(...(await benchPoisson(await freshDatabase(server, 'bench_poisson'), say)));
  }
  if (wants('open.curve') || wants('open.overload')) {
    say('opening sessions at rising rates, and at twice the sustained rate');
    const found = await benchCurve(server, await freshDatabase(server, 'bench_curve'), say);
    if (writesDocs) await writeCurve(found);
    figures.push(...figuresOfCurve(found));
  }
  if (wants('browser.open')) {
    say('opening sessions with browsers');
    figures.push(...(await benchBrowserService(await freshDatabase(server, 'bench_browser'))));
  }
  if (wants('open.burst100')) {
    say('opening 100 sessions at once');
    figures.push(...(await benchBurst(await freshDatabase(server, 'bench_burst'), say)));
  }
  if (wants('open.cold.docker')) {
    if (await dockerAnswers()) {
      say('opening sessions on cold Docker containers');
      figures.push(...(await benchDocker(await freshDatabase(server, 'bench_docker'))));
    } else {
      say('left out: open.cold.docker (no Docker engine answers)');
    }
  }
  return figures;
};

/** Measures the figures that need the service, and so a database. */
const withServer = async (): Promise<Figure[]> => {
  const dataDir = await mkdtemp(join(tmpdir(), 'svc-bench-'));
  const server = await startPostgres({ dataDir: join(dataDir, 'pg') });
  try {
    return await benchServed(server);
  } finally {
    await server.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
};

const measured: Figure[] = [];
if (wants('language')) {
  say('compiling worlds');
  measured.push(...(await benchLanguage()));
}
if (wants('dev')) {
  say('serving a folder while it is written');
  measured.push(...(await benchAuthor()));
}
if (wants('browser')) {
  say('opening, viewing and losing browsers');
  measured.push(...(await benchBrowser()));
}
if (wants('import.engine')) measured.push(...(await benchImport(wants, say)));
if (wants('orchestrator.plan')) {
  say('planning for 10,000 hosts');
  measured.push(...(await benchOrchestrator()));
}
if (wants('density')) {
  say('calling sessions of a code host, and measuring their memory');
  measured.push(...(await benchDensity(values.only, say)));
}
if (wants('ui.list.100k')) {
  say('listing, sorting and searching 100,000 rows in a browser');
  measured.push(...(await benchUiList()));
}
const hostNames = ['get', 'list100', 'patch', 'post', 'start', 'rss', 'soak'];
let host: HostReport | undefined;
if (hostNames.some((name) => wants(`host.${name}`))) {
  host = await benchHost({ wants, say });
  measured.push(...host.figures);
}
let world: WorldReport | undefined;
if (wants('world')) {
  world = await benchWorld({ wants, say });
  measured.push(...world.figures);
}
if (wants('gateway')) {
  say('sending requests through the gateway, and keeping connections idle');
  measured.push(...(await benchGateway(wants)));
}
if (wants('host.reset')) {
  say('resetting worlds of 1,000 and of 1,000,000 rows');
  measured.push(...(await benchReset(wants)));
}
if (wants('grade.p50')) {
  say('grading a world of 100,000 rows');
  measured.push(...(await benchGrade()));
}
if (wantsServer) measured.push(...(await withServer()));
const figures = measured.filter((figure) => figure.name.startsWith(values.only));
if (figures.length === 0) throw new Error(`no figure begins with "${values.only}"`);
console.log(formatTable(figures));
if (writesDocs && host !== undefined) await writeReport({ ...host, figures });
if (writesDocs && world !== undefined) await writeWorldReport(world);
if (writesDocs && isLargeGroup(values.only)) await writeLarge(values.only, figures);
await writeFile(outputFile, `${JSON.stringify(figures, null, 2)}\n`);
