/**
 * Makes of a session what its page shows. It runs at the service, on what is known of the session: `session`, `grade`,
 * `calls` and `requests`. Try it with "svc dashboards test-transform".
 */
const msBetween = (from, to) =>
  from === null || to === null ? null : new Date(to) - new Date(from);

const callOf = ({ seq, kind, name, state, queuedAt, answeredAt, changes, error }) => ({
  seq,
  name: name ?? kind,
  state,
  tookMs: msBetween(queuedAt, answeredAt),
  changed: Object.values(changes)
    .flatMap((counts) => Object.values(counts))
    .reduce((sum, rows) => sum + rows, 0),
  error: error === null ? null : error.message,
});

/** Rows by entity and kind of change, of all calls together. */
const changesOf = (calls) => {
  const rows = {};
  for (const { changes } of calls) {
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
  return {
    session: { ...session, lastedMs: msBetween(session.createdAt, session.closedAt) },
    grade: gradeOf(grade),
    calls: calls.map(callOf),
    changes: changesOf(calls),
    requests: requests.map(({ at, status }) => ({ at, status })),
  };
}
