/**
 * Dashboard, alert rules and runbook name only existing things: every metric is exported by a
 * program, and every alert has its section. Prometheus' own `promtool` (Debian: `prometheus`) tests
 * the rules on series of a healthy and of an unhealthy service, and parses every query of the
 * dashboard.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import { createLog } from '#runtime/log.ts';
import { serveMetrics } from '#runtime/metrics.ts';
import { createMetrics as createOrchestratorMetrics } from '../../orchestrator/signals/metrics.ts';
import { createMetrics as createControlMetrics } from '../../src/control/platform/telemetry/counters.ts';
import { addLoadMetrics } from '../../src/control/platform/telemetry/gauges.ts';
import { createRouteTable } from '../../src/gateway/routes/route-table.ts';
import {
  addGauges,
  createMetrics as createGatewayMetrics,
} from '../../src/gateway/serving/metrics.ts';
import { createVisits } from '../../src/gateway/serving/visits.ts';
import { createMetrics as createSenderMetrics } from '../../src/sender/metrics.ts';

const read = (path: string): string =>
  readFileSync(join(import.meta.dirname, '../..', path), 'utf8');
const rulesPath = 'charts/svc/ops/alert-rules.yaml';
const rules = read(rulesPath);
const dashboard = JSON.parse(read('charts/svc/ops/grafana-dashboard.json'));
const runbook = read('docs/operate/runbook.md');

type Panel = { title: string; gridPos: { x: number; y: number; w: number; h: number } } & {
  targets?: { expr: string }[];
};
const panels: Panel[] = dashboard.panels;
const queries = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
const alerts = [...rules.matchAll(/- alert: (\w+)/g)].map(([, name]) => name ?? '');

const metricsIn = (text: string): string[] => [
  ...new Set(text.match(/\b(?:svc|process|nodejs)_[a-z0-9_]+/g) ?? []),
];

/** Returns the names under which metrics are exported; a histogram has three. */
const exportedNames = async (): Promise<Set<string>> => {
  const control = createControlMetrics();
  const never = (): never => {
    throw new Error('nothing is read here');
  };
  const log = createLog('test', 'silent');
  const parts = { db: never, compiler: never, notifications: never, log, metrics: control };
  addLoadMetrics(parts as unknown as Parameters<typeof addLoadMetrics>[0], { bytes: () => 0 });
  const gateway = createGatewayMetrics();
  addGauges(gateway, createVisits(1), createRouteTable({ ask: never, most: 1 }));
  const watched = { program: 'test', registry: new Registry(), loops: () => [], log };
  const bound = await serveMetrics(watched, [{ host: '127.0.0.1', port: 0 }]);
  const [address] = bound.addresses;
  const served = await (await fetch(`${address}/metrics`)).text();
  await bound.stop(0);
  const registries = [
    control.registry,
    createOrchestratorMetrics().registry,
    gateway.registry,
    createSenderMetrics(() => 0).registry,
  ];
  const names = registries.flatMap((registry) =>
    registry.getMetricsAsArray().flatMap((metric) => {
      const { name, type } = metric as unknown as { name: string; type?: unknown };
      const isHistogram = 'buckets' in metric || type === 'histogram';
      return isHistogram ? [name, `${name}_bucket`, `${name}_count`, `${name}_sum`] : [name];
    }),
  );
  const ofAllPrograms = [...served.matchAll(/^# TYPE (\w+)/gm)].map(([, name]) => name ?? '');
  return new Set([...names, ...ofAllPrograms]);
};

describe('monitoring for operators', () => {
  it('names only metrics that a program exports', async () => {
    const exported = await exportedNames();
    const named = metricsIn([rules.replace(/^#.*$/gm, ''), ...queries, runbook].join('\n'));
    expect(named.length).toBeGreaterThan(30);
    expect(named.filter((name) => !exported.has(name))).toEqual([]);
  });

  it('shows every metric of the service itself', async () => {
    const own = [...(await exportedNames())].filter((name) => /^svc_/.test(name));
    const shown = new Set(
      metricsIn(queries.join('\n')).map((name) => name.replace(/_bucket$/, '')),
    );
    const missing = own
      .filter((name) => !/_(bucket|count|sum)$/.test(name))
      .filter((name) => !shown.has(name));
    expect(missing).toEqual([]);
  });

  it('has panels that do not overlap', () => {
    const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, cell) => `${x + (cell % w)},${y + Math.floor(cell / w)}`),
    );
    expect(new Set(cells).size).toBe(cells.length);
  });

  it('has a section of the runbook for each alert, and no other', () => {
    expect(alerts.length).toBeGreaterThan(10);
    const sections = [...runbook.matchAll(/^## (\w+)$/gm)].map(([, name]) => name);
    expect(sections).toEqual(alerts);
    const links = [...rules.matchAll(/runbook: docs\/operate\/runbook\.md#(\w+)/g)].map(
      ([, id]) => id,
    );
    expect(links).toEqual(alerts.map((name) => name.toLowerCase()));
  });
});

const promtool = (process.env.PATH ?? '')
  .split(delimiter)
  .map((folder) => join(folder, 'promtool'))
  .find((file) => existsSync(file));
if (promtool === undefined) {
  console.info('alert rules and the dashboard are tested in part: there is no promtool');
}

/** Runs promtool at the root of the repository; its error output becomes the failure. */
const tryWith = (...args: string[]): string =>
  execFileSync(promtool ?? '', args, {
    cwd: join(import.meta.dirname, '../..'),
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });

describe.skipIf(promtool === undefined)('Prometheus', () => {
  it('accepts the rules', () => {
    expect(tryWith('check', 'rules', rulesPath)).toContain(`${alerts.length} rules found`);
  });

  it('fires each alert on its cause, and none on a healthy service', () => {
    const cases = 'test/repository/alert-rules.promtool.yaml';
    const tried = new Set([...read(cases).matchAll(/alertname="(\w+)"/g)].map(([, name]) => name));
    expect(tried).toEqual(new Set(alerts));
    expect(tryWith('test', 'rules', cases)).toContain('SUCCESS');
  });

  it('parses every query of the dashboard', async () => {
    const rulesOf = queries.map((query, index) => ({
      record: `query:${index}`,
      expr: query.replaceAll('$__rate_interval', '5m'),
    }));
    const folder = await mkdtemp(join(tmpdir(), 'svc-queries-'));
    const file = join(folder, 'queries.yaml');
    // JSON is valid YAML.
    await writeFile(file, JSON.stringify({ groups: [{ name: 'queries', rules: rulesOf }] }));
    expect(tryWith('check', 'rules', file)).toContain(`${queries.length} rules found`);
    await rm(folder, { recursive: true });
  });
});
