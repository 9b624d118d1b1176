/**
 * Tests the transform in the starter code for sessions: which calls it counts as the agent's, and which as the
 * harness's.
 */
import { expect, it } from 'vitest';
import { buildCode } from '../dashboard-code/build.ts';
import { runTransform } from '../dashboard-code/transform.ts';
import { starterOf } from './starters.ts';

const inserted = (rows: number) => ({ notes: { inserted: rows, updated: 0, deleted: 0 } });
const at = '2026-03-01T09:30:00.000Z';

const call = (seq: number, kind: string, changes = {}) => ({
  ...{ seq, kind, name: kind === 'tool' ? 'create_notes' : null, state: 'succeeded' },
  ...{ queuedAt: at, claimedAt: at, answeredAt: at, error: null, changes },
});

const request = (via: string, operation: string | null, changes = {}) => ({
  ...{ id: 1, at, via, operation, method: 'POST', path: '/notes', status: 201, changes },
});

const shown = async (data: object) => {
  const { transform } = starterOf('session', 'starter');
  const built = await buildCode({
    kind: 'dashboard_build',
    code: { files: [], entrypoint: null, transform },
  });
  const script = built.ok ? (built.built.transformScript ?? '') : '';
  const outcome = await runTransform({ script, dataJson: JSON.stringify(data), nowMs: 0 });
  return JSON.parse(outcome.ok ? outcome.outputJson : outcome.error);
};

it('the starter code for sessions counts agent actions by surface, and lists calls of the harness separately', async () => {
  const made = await shown({
    session: { id: 'ses-1', createdAt: at, closedAt: null },
    grade: null,
    calls: [
      call(1, 'seed', inserted(50)),
      call(2, 'tool', inserted(1)),
      call(3, 'state'),
      call(4, 'answer'),
      call(5, 'webhook-answers'),
      call(6, 'export'),
    ],
    requests: [
      request('session', 'seed', inserted(50)),
      request('tool', 'create_notes', inserted(1)),
      request('api', 'create_note', inserted(2)),
      request('ui', 'create_note', inserted(4)),
      request('browser', 'navigated'),
      request('webhook', 'note.created'),
      request('webhook', 'note.created.answer'),
      request('webhook-skipped', 'note.created'),
    ],
  });
  expect(made.calls.map(({ seq }: { seq: number }) => seq)).toEqual([2, 4]);
  expect(made.harness.map(({ name }: { name: string }) => name)).toEqual([
    ...['seed', 'state', 'webhook-answers', 'export'],
  ]);
  expect(made.changes).toEqual([{ entity: 'notes', kind: 'inserted', rows: 7 }]);
  expect(made.ways).toEqual([
    { way: 'tools', count: 2, rows: 1 },
    { way: 'API', count: 1, rows: 2 },
    { way: 'page', count: 1, rows: 4 },
    { way: 'browser', count: 1, rows: 0 },
  ]);
  expect(made.requests.map(({ way }: { way: string }) => way)).toEqual(['API', 'page', 'browser']);
  expect(made.deliveries).toBe(1);
});
