/** Converts a session to its trace, and to the span that contains all its calls and requests. Pure. */
import type { State } from '#observability/state.ts';
import { traceIdOf } from '#runtime/trace-steps.ts';
import type { ToldSession } from '../../db/observability/session-traces.ts';
import type { Told } from '../ingestion/fold.ts';
import { lastHint, nameOf, ranked, type Saying, stateOf } from './states.ts';

/** Returns `shop/refund`: the world and the task of the session. */
const titleOf = ({ slug, taskName }: ToldSession): string =>
  nameOf(taskName === null ? slug : `${slug}/${taskName}`);

/** Returns true if the session has a trace of its own, and not that of the request that opened it. */
const hasOwnTrace = ({ id, traceId }: ToldSession): boolean => traceId === traceIdOf(id);

const endOf = ({ createdAt, readyAt, closedAt }: ToldSession): number =>
  (closedAt ?? readyAt ?? createdAt).getTime();

const factsOf = ({ slug, versionId, taskName, taskId }: ToldSession): Record<string, unknown> => ({
  world: slug,
  versionId,
  ...(taskName === null ? {} : { task: taskName }),
  ...(taskId === null ? {} : { taskId }),
});

/**
 * Returns the metadata of a trace for a session, keyed by the session's id, because a trace may have several sessions.
 */
const linkTo = (session: ToldSession): Record<string, unknown> => ({
  worldSessions: { [session.id]: factsOf(session) },
});

/** Returns the tags `world:shop` and `task:refund`, by which lists of traces are filtered. */
const tagsOf = ({ slug, taskName }: ToldSession): string[] =>
  [`world:${slug}`, ...(taskName === null ? [] : [`task:${taskName}`])].map(nameOf).sort();

/** Returns the build in terms of traces: its hash is the release, its version the version. */
const buildOf = ({ buildHash: release, buildVersion: version }: ToldSession) => ({
  release,
  version,
});

// Returns the lowest standing, which any other report of the trace overrides.
const hint = (ms: number): Saying => ({ standing: 'hint', ms });

/** Returns the state for an agent's trace that uses the session: a link to it. */
const linkedState = (session: ToldSession): State => {
  const { createdAt, traceSessionId, id } = session;
  const values = ranked({ name: titleOf(session), externalId: id, ...buildOf(session) }, lastHint);
  const asked = ranked({ sessionId: traceSessionId }, hint(createdAt.getTime()));
  const parts = {
    ...{ beganMs: null, values: { ...values, ...asked } },
    ...{ metadata: linkTo(session), tags: tagsOf(session) },
  };
  return { ...stateOf(parts, lastHint), guessedAt: createdAt.getTime() };
};

/** Reports a session in a trace that is not its own. */
export const tellLink = (session: ToldSession, traceId: string): Told => ({
  kind: 'trace',
  id: traceId,
  state: linkedState(session),
});

const ownState = (session: ToldSession): State => {
  const { id, createdAt, traceSessionId, instruction } = session;
  const saying = hint(endOf(session));
  const given = {
    name: titleOf(session),
    sessionId: traceSessionId ?? id,
    externalId: id,
    ...buildOf(session),
    input: instruction === null ? null : JSON.stringify(instruction),
  };
  const parts = {
    beganMs: createdAt.getTime(),
    values: ranked(given, saying),
    metadata: linkTo(session),
    tags: tagsOf(session),
  };
  return stateOf(parts, saying);
};

const spanState = (session: ToldSession): State => {
  const { id, createdAt, readyAt, closedAt, instruction, state, endReason, error } = session;
  const saying: Saying = { standing: 'create', ms: endOf(session) };
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
  const values = ranked(given, saying);
  return stateOf({ beganMs: createdAt.getTime(), values, metadata }, saying);
};

/** Reports the current state of the session. */
export const tellSession = (session: ToldSession): Told[] => [
  hasOwnTrace(session)
    ? { kind: 'trace', id: session.traceId, state: ownState(session) }
    : tellLink(session, session.traceId),
  {
    kind: 'observation',
    id: session.id,
    traceId: session.traceId,
    state: spanState(session),
  },
];

/**
 * Reports the outcome of the latest grade: as the output of the session's span, and of the trace until another report
 * gives one.
 */
export const tellOutcome = (
  { id, traceId, createdAt }: ToldSession,
  output: string,
  ms: number,
): Told[] => {
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
