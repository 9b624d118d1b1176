/** Cases of lists that `svc` prints: of worlds, and of their sessions and tasks. */

import { describeCapture } from '../../../../src/cli/views/capture.ts';
import { describeConform } from '../../../../src/cli/views/conform.ts';
import * as connectors from '../../../../src/cli/views/connector.ts';
import { listBatchesText } from '../../../../src/cli/views/data.ts';
import { describeCounts } from '../../../../src/cli/views/data-rows.ts';
import { describeDraft } from '../../../../src/cli/views/draft.ts';
import { describeFaults } from '../../../../src/cli/views/faults.ts';
import { describeProof } from '../../../../src/cli/views/proof.ts';
import { describeLedger, describeRequests } from '../../../../src/cli/views/request.ts';
import { listSessions } from '../../../../src/cli/views/session.ts';
import * as tasks from '../../../../src/cli/views/task.ts';
import { listVersions } from '../../../../src/cli/views/version.ts';
import { describeSubscriptions } from '../../../../src/cli/views/webhooks.ts';
import * as worlds from '../../../../src/cli/views/world.ts';
import { at, digest, entry, idOf, key, type ListCase, list, name, text, url } from './values.ts';

const changed = { createdAt: at, updatedAt: at };
const build = {
  ...{ id: idOf('bld'), agentId: 'customer-support', buildHash: digest, version: '1.5.0-rc.1' },
};
const graded = {
  graded: 12,
  passRate: 0.9333,
  state: 'RUNNING',
  model: 'claude-sonnet-4-5-20250929',
};
const run = { runId: 'nightly-2026-03-01-of-main', world: 'customer-support', ...graded };
const request = {
  ...{ sessionId: idOf('ses'), id: 1, at, via: 'webhook-skipped', method: 'POST' },
  ...{ operation: 'list_appointments_of_clinician', path: `/${name}/${name}`, status: 422 },
  ...{ request: null, response: { body: null, reason: text }, durationMs: 62_000 },
  ...{ changes: { appointments: { inserted: 12, updated: 3, deleted: 1 } }, callId: null },
};

/** Cases by name of the list. */
export const worldsLists: Readonly<Record<string, ListCase>> = {
  captures: [
    'list_appointments',
    (view) => {
      const operation = {
        ...{ operation: 'list_appointments_of_a_clinician', asked: 1_200, known: 14, rows: 9_000 },
        ...{ statuses: { 200: 1_180, 404: 14, 429: 6 }, cutOff: 12 },
      };
      return describeCapture(entry({ operations: [operation], skipped: [], failed: [] }), view);
    },
  ],
  fidelity: [
    'list_appointments',
    (view) => {
      const route = {
        ...{ operation: 'list_appointments_of_a_clinician', route: `GET /${name}/{id}` },
        ...{ requests: 120, checks: 4_000, differences: 12, fidelity: 99.7, isCaptured: true },
      };
      const none = { different: [], notPlayed: [], fidelity: 99.7, checks: 4_000, differences: 12 };
      return describeConform(entry({ ...none, routes: [route] }), view);
    },
  ],
  connectors: [
    'workspace:clinic-of-the-north',
    list(connectors.connectorsText, {
      ...{ from: 'workspace:clinic-of-the-north', name: text, description: text },
      latest: { number: 12, createdAt: at, project: 'acme/customer-support' },
    }),
  ],
  'versions of a connector': [
    '12',
    list(connectors.connectorVersionsText, {
      ...{ number: 12, createdAt: at, project: 'acme/customer-support', author: key },
      ...{ sizeBytes: 563_069, message: text },
    }),
  ],
  batches: [
    idOf('bat'),
    list(
      listBatchesText,
      {
        ...{ batchId: idOf('bat'), state: 'validating', dryRun: true, mode: 'replace' },
        ...{ rowCount: 1_200_000, refused: 12_000, bytes: 9e9, createdAt: at, message: text },
      },
      { message: null, refused: 0, dryRun: false },
    ),
  ],
  'rows of a world': [
    name,
    (view) =>
      describeCounts(entry({ slug: 'clinic', number: 2, entityCounts: { [name]: 12 } }), view),
  ],
  'entities of a draft': [
    name,
    (view) => {
      const entity = { name, key: ['organization_id', 'appointment_id'], fields: 120, rows: 9_000 };
      return describeDraft(
        'clinic',
        entry({ entities: [entity], operations: [], marks: [] }),
        view,
      );
    },
  ],
  faults: [
    'slow-lists-in-the-morning',
    (view) => {
      const rule = {
        ...{ name: 'slow-lists-in-the-morning', chance: 0.5, latency_ms: 900, status: 503 },
        routes: ['list_appointments_of_a_clinician', 'list_patients_of_a_clinic'],
      };
      const met = [{ name: rule.name, requests: 1_200, met: 600 }];
      return describeFaults({ declared: true, faults: { tools: true, rules: [rule] }, met }, view);
    },
  ],
  'trials of a proof': [
    'the solution without step 1',
    (view) => {
      const row = { kind: 'step', ok: false, expected: 'fail', verdict: 'unknown', detail: text };
      const what = `the solution without step 1, POST /appointments/{id}/cancel of ${name}`;
      const proof = { passed: false, rows: [{ ...row, what }], notGraded: [], neverBites: [] };
      return describeProof(entry({ ...proof, summary: {} }), view);
    },
  ],
  'requests to a session': ['', list(describeLedger, request, { status: 200 })],
  'requests to a world': [idOf('ses'), list(describeRequests, request, { status: 200 })],
  sessions: [
    idOf('ses'),
    list(
      listSessions,
      {
        ...{
          id: idOf('ses'),
          slug: 'clinic-of-the-north',
          state: 'CLOSED',
          endReason: 'requested',
        },
        ...{ verdict: 'fail', score: 0.25, task: { name }, run: { id: run.runId }, createdAt: at },
        ...{ build, size: 'large', pinned: true },
      },
      { verdict: null, score: null, task: null, run: null, build: null },
    ),
  ],
  'stored tasks': [
    idOf('tsk'),
    list(tasks.listTasks, {
      ...{
        id: idOf('tsk'),
        name: text,
        world: 'clinic',
        pin: { number: 12 },
        version: 3,
        ...changed,
      },
    }),
  ],
  'versions of a task': [
    idOf('tsk'),
    (view) => {
      const version = { version: 12, createdAt: at, author: key, message: text };
      const task = { id: idOf('tsk'), world: 'clinic', pin: null, versions: [version], spec: {} };
      return tasks.describeTask(entry({ ...task, contentHash: 'sha256:0' }), view);
    },
  ],
  'versions of a world': [
    '12',
    list(
      listVersions,
      {
        ...{ number: 12, id: idOf('ver'), gate: 'outdated', origin: 'import', author: key },
        ...{ changes: null, labels: ['stable', 'candidate-of-the-week'], message: text },
        createdAt: at,
      },
      { gate: null, labels: [], message: null },
    ),
  ],
  'routes and tasks of a folder': [
    'GET /clinics/{clinic}/appointments',
    (view) => {
      const path = '/clinics/{clinic}/appointments/{appointment}/reminders';
      const route = { method: 'GET', path, operation: `get_${name}`, action: 'handler' };
      const contract = {
        ...{ name: 'clinic', package: { id: 'clinic', version: '0.1.0' }, language: 'svc-world/1' },
        ...{ entities: [], dependencies: [], redact: null, tools: [], api: { routes: [route] } },
        tasks: [{ name: 'move-visit', instruction: text, tools: ['list_appointments'] }],
      };
      return worlds.viewContract(entry(contract), {}, view);
    },
  ],
  subscriptions: [
    'north/berth',
    list(describeSubscriptions, {
      ...{ key: { repository: 'north/berth', id: 12 }, world: 'crm', url, deliveries: 1_200 },
      ...{ events: ['appointment.booked', 'appointment.moved'], enabled: true, skips: text },
      scope: { repository: ['north/berth', 'south/quay'] },
    }),
  ],
  worlds: [
    name.slice(0, 40),
    list(worlds.listWorlds, {
      ...{ slug: name.slice(0, 40), name: text, path: `local/default/${name.slice(0, 40)}` },
      ...{ version: { number: 12, entityCounts: { orders: 120_000 } }, toolCount: 12 },
      ...{ taskCount: 144, createdAt: at },
    }),
  ],
  templates: [
    'device-management',
    list(worlds.listTemplates, { slug: 'device-management', name: text, description: text }),
  ],
};
