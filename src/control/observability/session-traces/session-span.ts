/** Converts a session to its trace, and to the span that contains all its calls and requests. Has no side effects. */
import type { State } from '#observability/state.ts';
import { traceIdOf } from '#runtime/trace-steps.ts';
import type { TracedSession } from '../../db/observability/session-traces.ts';
import type { Report } from '../ingestion/fold.ts';
import { lastHint, nameOf, type Precedence, ranked, stateOf } from './states.ts';

/** Returns the title of a session, for example `shop/refund`: its world and its task. */
const titleOf = ({ slug, taskName }: TracedSession): string =>
  nameOf(taskName === null ? slug : `${slug}/${taskName}`);

/** Returns true if the session has its own trace; false if it is in the trace of the request that opened it. */
const hasOwnTrace = ({ id, traceId }: TracedSession): boolean => traceId === traceIdOf(id);

const endOf = ({ createdAt, readyAt, closedAt }: TracedSession): number =>
  (closedAt ?? readyAt ?? createdAt).getTime();

const factsOf = ({
  slug,
  versionId,
  taskName,
  taskId,
}: TracedSession): Record<string, unknown> => ({
  world: slug,
  versionId,
  ...(taskName === null ? {} : { task: taskName }),
  ...(taskId === null ? {} : { taskId }),
});

/**
 * Returns the metadata of a trace for a session, keyed by the session's id, because a trace may have several sessions.
 */
const linkTo = (session: TracedSession): Record<string, unknown> => ({
  worldSessions: { [session.id]: factsOf(session) },
});

/** Returns tags such as `world:shop` and `task:refund`, by which lists of traces are filtered. */
const tagsOf = ({ slug, taskName }: TracedSession): string[] =>
  [`world:${slug}`, ...(taskName === null ? [] : [`task:${taskName}`])].map(nameOf).sort();

/** Returns the fields that a trace has for a build: `release` is the build's hash, `version` its version. */
const buildOf = ({ buildHash: release, buildVersion: version }: TracedSession) => ({
  release,
  version,
});

// Returns the lowest standing, which any other report of the trace overrides.
const hint = (ms: number): Precedence => ({ standing: 'hint', ms });

/** Returns the state that an agent's trace gets if the agent uses the session: a link to the session. */
const linkedState = (session: TracedSession): State => {
  const { createdAt, traceSessionId, id } = session;
  const values = ranked({ name: titleOf(session), externalId: id, ...buildOf(session) }, lastHint);
  const asked = ranked({ sessionId: traceSessionId }, hint(createdAt.getTime()));
  const parts = {
    ...{ beganMs: null, values: { ...values, ...asked } },
    ...{ metadata: linkTo(session), tags: tagsOf(session) },
  };
  return { ...stateOf(parts, lastHint), guessedAt: createdAt.getTime() };
};

/** Reports a link to the session in a trace that is not the session's own. */
export const reportLink = (session: TracedSession, traceId: string): Report => ({
  kind: 'trace',
  id: traceId,
  state: linkedState(session),
});

const ownState = (session: TracedSession): State => {
  const { id, createdAt, traceSessionId, instruction } = session;
  const precedence = hint(endOf(session));
  const given = {
    name: titleOf(session),
    sessionId: traceSessionId ?? id,
    externalId: id,
    ...buildOf(session),
    input: instruction === null ? null : JSON.stringify(instruction),
  };
  const parts = {
    beganMs: createdAt.getTime(),
    values: ranked(given, precedence),
    metadata: linkTo(session),
    tags: tagsOf(session),
  };
  return stateOf(parts, precedence);
};

const spanState = (session: TracedSession): State => {
  const { id, createdAt, readyAt, closedAt, instruction, state, endReason, error } = session;
  const precedence: Precedence = { standing: 'create', ms: endOf(session) };
  const given = {
    type: 'SPAN',
    name: titleOf(session),
    parentId: session.traceParentId,
    endTime: closedAt?.getTime() ?? null,
    level: state === 'FAILED' ? 'ERROR' : null,
    statusMessage: error?.message ?? null,
    input: instruction === null ? null : JSON.stringify(instruction),
  };
  const metadata = {
    worldSessionId: id,
    ...factsOf(session),
    state,
    ...(endReason === null ? {} : { endReason }),
    ...(readyAt === null ? {} : { readyMs: readyAt.getTime() - createdAt.getTime() }),
  };
  const values = ranked(given, precedence);
  return stateOf({ beganMs: createdAt.getTime(), values, metadata }, precedence);
};

/** Reports the current state of the session. */
export const reportSession = (session: TracedSession): Report[] => [
  hasOwnTrace(session)
    ? { kind: 'trace', id: session.traceId, state: ownState(session) }
    : reportLink(session, session.traceId),
  {
    kind: 'observation',
    id: session.id,
    traceId: session.traceId,
    state: spanState(session),
  },
];

/**
 * Reports the outcome of the latest grade: as the output of the session's span, and as the output of the trace until
 * another report gives one.
 */
export const reportOutcome = (
  { id, traceId, createdAt }: TracedSession,
  output: string,
  ms: number,
): Report[] => {
  const of = (values: State['values']): State => ({
    ...{ at: null, guessedAt: createdAt.getTime(), values, tags: [], metadata: [] },
  });
  const ofSpan = {
    ...ranked({ type: 'SPAN' }, lastHint),
    ...ranked({ output }, { standing: 'update', ms }),
  };
  return [
    { kind: 'trace', id: traceId, state: of(ranked({ output }, hint(ms))) },
    { kind: 'observation', id, traceId, state: of(ofSpan) },
  ];
};
