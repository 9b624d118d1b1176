/** Data for the starter dashboards, as transforms and the service provide it: some, or none. */

const start = Date.parse('2026-11-20T09:00:00.000Z');
const at = (minutes: number): string => new Date(start + minutes * 60_000).toISOString();

const tools = [
  'list_issues',
  'get_issue',
  'add_label',
  'create_comment',
  'close_issue',
  'search_issues',
];

/** Builds the data of the starter for a session. */
export const sessionData = (isFilled: boolean): object => {
  const calls = Array.from({ length: isFilled ? 42 : 0 }, (_, index) => ({
    seq: index + 1,
    name: tools[(index * 7) % tools.length],
    state: index % 13 === 5 ? 'failed' : 'succeeded',
    tookMs: 8 + ((index * 37) % 90) + (index === 20 ? 640 : 0),
    changed: index % 4,
    error: index % 13 === 5 ? 'there is no issue 9,999 in northquay/berth' : null,
  }));
  const session = {
    ...{ id: 'ses-01kaz4x0pg8q2m5v7n3c1d9e6f', task: isFilled ? 'close-duplicate' : null },
    ...{ world: 'code-hosting', state: isFilled ? 'CLOSED' : 'READY', createdAt: at(0) },
    ...{ callCount: calls.length, lastedMs: isFilled ? 754_000 : null },
  };
  const nothing = { calls, changes: [], requests: [], ways: [], harness: [], deliveries: 0 };
  if (!isFilled) return { session, grade: null, ...nothing };
  const checks = [
    { name: 'the issue is closed', verdict: 'pass', detail: null, found: '1 row' },
    { name: 'it refers to the original', verdict: 'pass', detail: null, found: '1 row' },
    {
      name: 'nothing else changed',
      verdict: 'fail',
      detail: '2 rows of labels were inserted',
      found: null,
    },
  ];
  const counts = [
    ['issues', 3, 9, 0],
    ['labels', 2, 0, 1],
    ['comments', 7, 1, 0],
    ['events', 14, 0, 0],
  ] as const;
  const changes = counts.flatMap(([entity, ...rows]) =>
    ['inserted', 'updated', 'deleted'].map((kind, index) => ({ entity, kind, rows: rows[index] })),
  );
  const requests = Array.from({ length: 130 }, (_, index) => ({
    at: new Date(start + ((index * index * 53) % 740_000)).toISOString(),
    status: index % 19 === 0 ? 404 : index % 31 === 0 ? 500 : 200,
    way: index % 3 === 0 ? 'page' : 'API',
  }));
  const harness = ['seed', 'state', 'webhook-answers', 'grade', 'export'].map((name, index) => ({
    ...{ seq: 43 + index, name, state: 'succeeded', tookMs: 12 + index, changed: 0, error: null },
  }));
  const ways = [
    { way: 'tools', count: calls.length, rows: 24 },
    { way: 'API', count: 86, rows: 9 },
    { way: 'page', count: 44, rows: 4 },
  ];
  return {
    ...{ session, calls, requests, harness, ways, deliveries: 14 },
    ...{ grade: { verdict: 'fail', score: 0.67, checks } },
    changes: changes.filter(({ rows }) => rows !== 0),
  };
};

const taskNames = [
  'close-duplicate',
  'move-to-next-release',
  'how-long-merges-take',
  'review-and-merge',
];

/** Builds the data of the starter for tasks. */
export const taskData = (isFilled: boolean): object => {
  const tasks = taskNames.map((name, index) => ({
    id: `tsk-0${index}`,
    name,
    world: 'code-hosting',
  }));
  const sessions = Array.from({ length: isFilled ? 160 : 0 }, (_, index) => {
    const task = index % tasks.length;
    const isPass = (index * 31) % 10 > task * 2;
    const verdict =
      index % 17 === 0 ? null : index % 23 === 0 ? 'unknown' : isPass ? 'pass' : 'fail';
    const opened = index * 61;
    return {
      ...{
        id: `ses-01kaz4x0pg8q2m5v7n3c1d9${String(index).padStart(3, '0')}`,
        taskId: tasks[task]?.id,
      },
      ...{ task: tasks[task]?.name, world: 'code-hosting', state: 'CLOSED', createdAt: at(opened) },
      closedAt: at(opened + 2 + ((index * 13) % 17) + task * 3),
      ...{
        calls: 6 + ((index * 11) % 34),
        verdict,
        score: verdict === null ? null : isPass ? 1 : 0.4,
      },
    };
  });
  return {
    ...{ kind: 'task', tasks, sessions, hasMoreSessions: false, world: null },
    taskSet: {
      id: 'tset-01kaz4x0pg8q2m5v7n3c1d9e6f',
      name: 'Checkout agents',
      description: 'Release 4',
    },
  };
};
