/**
 * Makes of a session what its page shows. It runs at the service, on what is known of the session: `session`, `grade`,
 * `calls` and `requests`. Try it with "svc dashboards test-transform".
 *
 * What the agent did is kept apart from what the harness asked: an agent calls tools and answers, and sends requests over
 * the API, the page or a browser. States, exports, grades, seeds and answers of webhooks are the harness's.
 */
const msBetween = (from, to) =>
  from === null || to === null ? null : new Date(to) - new Date(from);

const rowsIn = (changes) =>
  Object.values(changes)
    .flatMap((counts) => Object.values(counts))
    .reduce((sum, rows) => sum + rows, 0);

const callOf = ({ seq, kind, name, state, queuedAt, answeredAt, changes, error }) => ({
  seq,
  name: name ?? kind,
  state,
  tookMs: msBetween(queuedAt, answeredAt),
  changed: rowsIn(changes),
  error: error === null ? null : error.message,
});

/** Call kinds of agents; all others are the harness's. */
const agentKinds = new Set(['tool', 'answer']);
const isAgents = ({ kind }) => agentKinds.has(kind);

/** Ways of the ledger by which agents send requests, as the page names them. Tools have their calls. */
const wayNames = { api: 'API', ui: 'page', browser: 'browser' };
const isRequest = ({ via }) => Object.hasOwn(wayNames, via);

/** Posts of webhooks; what receivers answered is in the ledger, too. */
const isDelivery = ({ via, operation }) => via === 'webhook' && !operation?.endsWith('.answer');

/** Rows by entity and kind of change, of all that the agent did. */
const changesOf = (acts) => {
  const rows = {};
  for (const { changes } of acts) {
    for (const [entity, counts] of Object.entries(changes)) {
      rows[entity] ??= { inserted: 0, updated: 0, deleted: 0 };
      for (const [kind, count] of Object.entries(counts)) rows[entity][kind] += count;
    }
  }
  return Object.entries(rows).flatMap(([entity, counts]) =>
    Object.entries(counts)
      .filter(([, count]) => count > 0)
      .map(([kind, count]) => ({ entity, kind, rows: count })),
  );
};

/** What came by each way, with the rows that it changed; ways by which nothing came are left out. */
const waysOf = (calls, requests) => {
  const tools = calls.map(({ changes }) => ({ way: 'tools', changes }));
  const others = requests.map(({ via, changes }) => ({ way: wayNames[via], changes }));
  const ways = {};
  for (const { way, changes } of [...tools, ...others]) {
    ways[way] ??= { way, count: 0, rows: 0 };
    ways[way].count += 1;
    ways[way].rows += rowsIn(changes);
  }
  return Object.values(ways);
};

const textOf = (value) =>
  value == null || typeof value === 'string' ? value : JSON.stringify(value);

const gradeOf = (grade) =>
  grade && {
    verdict: grade.verdict,
    score: grade.score ?? null,
    checks: (grade.checks ?? []).map(({ name, verdict, detail, found }) => ({
      name,
      verdict,
      detail: textOf(detail ?? null),
      found: textOf(found ?? null),
    })),
  };

export default function transform({ session, grade, calls, requests }) {
  const own = calls.filter(isAgents);
  const asked = requests.filter(isRequest);
  return {
    session: { ...session, lastedMs: msBetween(session.createdAt, session.closedAt) },
    grade: gradeOf(grade),
    calls: own.map(callOf),
    harness: calls.filter((call) => !isAgents(call)).map(callOf),
    ways: waysOf(own, asked),
    changes: changesOf([...own, ...asked]),
    requests: asked.map(({ at, status, via }) => ({ at, status, way: wayNames[via] })),
    deliveries: requests.filter(isDelivery).length,
  };
}
