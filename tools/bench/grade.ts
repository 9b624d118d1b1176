/**
 * Measures a grade in a world of 100,000 rows whose session received 50,000 requests: the whole call in the host,
 * including what changed. Its floor is the store's own answers to the same conditions. Also measures how many grades a
 * machine gives in a second, when a thousand are requested concurrently over hosts.
 */
import { createLog } from '#runtime/log.ts';
import { filtersOfConditions } from '#store/read/filter.ts';
import type { Grade } from '#wire/public-api/sessions/grade.ts';
import type { TaskSpec } from '#wire/public-api/worlds/task-spec.ts';
import { call, close, open } from '../../test/support/control/sessions.ts';
import type { Network } from '../../test/support/programs/network.ts';
import { runCall } from '../../world-host-image/call-kinds/run-call.ts';
import type { Session } from '../../world-host-image/session/session.ts';
import { type Figure, median, sample } from './figure.ts';
import { openItems } from './items-world.ts';

const rows = 100_000;
const entries = 50_000;
const changes = 10;
const runs = 30;

const checks = [
  { entity: 'items', where: { id: 7, state: 'closed' } },
  { entity: 'items', where: { state: 'closed' }, count: changes },
  {
    entity: 'items',
    where: { owner: 'owner 7', name: { contains: 'item 1' }, state: 'lost' },
    count: 0,
  },
  { entity: 'svc_requests', where: { via: 'api', operation: 'close_item' }, count: entries },
];

const task: TaskSpec = {
  seed: { rows: {} },
  grader: { kind: 'assertions', checks, changes: { closed: true } },
};

const askOften = ({ ledger }: Session): void => {
  for (let index = 0; index < entries; index += 1) {
    ledger.note({
      at: '2026-01-01T00:00:00.000Z',
      via: 'api',
      operation: 'close_item',
      method: 'PATCH',
      path: `/items/${index}`,
      status: 200,
      request: { body: { state: 'closed' } },
      response: { body: { id: index, state: 'closed' } },
      duration_ms: 1,
      changes: { items: { inserted: 0, updated: 1, deleted: 0 } },
      rows: [{ entity: 'items', key: { id: index }, change: 'updated' }],
      call_id: null,
    });
  }
};

const log = createLog('bench', 'silent');

const ask = async (session: Session, kind: 'tool' | 'grade', input: object): Promise<unknown> => {
  const name = kind === 'tool' ? 'update_items' : null;
  const { output, error } = await runCall(session, { id: 'call', seq: 1, kind, name, input }, log);
  if (error !== undefined) throw new Error(`a ${kind} call failed: ${error.message}`);
  return output;
};

/** Measures the floor: evaluates the same conditions on the store and the ledger alone. */
const measureFloor = async ({ world, ledger }: Session): Promise<number> => {
  const noted = ledger.asOfNow();
  const samples = await sample(runs, async () => {
    for (const { entity, where } of checks) {
      const source = entity === 'items' ? world.store : noted;
      source.count(entity, filtersOfConditions(entity, where));
    }
  });
  return median(samples);
};

/** Measures a grade that evaluates all conditions, in milliseconds; median of 30. */
export const benchGrade = async (): Promise<Figure[]> => {
  const session = await openItems(rows, task);
  askOften(session);
  for (let index = 0; index < changes; index += 1) {
    await ask(session, 'tool', { id: 7 + index * 1_000, state: 'closed' });
  }
  const first = JSON.stringify(await ask(session, 'grade', {}));
  if ((JSON.parse(first) as Grade).verdict !== 'pass') throw new Error(`the grade is ${first}`);
  const samples = await sample(runs, async () => {
    const grade = JSON.stringify(await ask(session, 'grade', {}));
    if (grade !== first) throw new Error('two grades of one state differ');
  });
  const floor = await measureFloor(session);
  session.ledger.close();
  session.world.store.close();
  await session.world.code.remove();
  const value = median(samples);
  return [
    { name: 'grade.p50', value, unit: 'ms', floor, peer: null, target: 250, better: 'lower' },
  ];
};

const parallelSessions = 20;
const gradesEach = 50;

/** Measures grades a second: 1,000 requested at once of 20 sessions on hosts of their own. */
export const benchGrades = async (network: Network): Promise<Figure[]> => {
  const { client } = network;
  const task = { slug: 'code-hosting', task: 'close-duplicate', reuseWarm: true };
  const sessions = await Promise.all(
    Array.from({ length: parallelSessions }, () => open(client, task)),
  );
  const startedAt = performance.now();
  const grades = await Promise.all(
    sessions.flatMap(({ id }) =>
      Array.from({ length: gradesEach }, () => call(client, id, { kind: 'grade' })),
    ),
  );
  const seconds = (performance.now() - startedAt) / 1_000;
  const different = new Set(grades.map(({ state, output }) => JSON.stringify([state, output])));
  if (different.size !== 1) throw new Error(`one state got ${different.size} different grades`);
  await Promise.all(sessions.map(({ id }) => close(client, id)));
  const value = grades.length / seconds;
  const figure = { unit: 'calls/s', floor: null, peer: null, target: null } as const;
  return [{ name: 'grade.throughput', value, better: 'higher', ...figure }];
};
