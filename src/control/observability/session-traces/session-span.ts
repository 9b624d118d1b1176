/** What a session is in its trace: the trace itself, and the span that all its calls and requests are in. Pure. */
import type { State } from '#observability/state.ts';
import { traceIdOf } from '#runtime/trace-steps.ts';
import type { ToldSession } from '../../db/observability/session-traces.ts';
import type { Told } from '../ingestion/fold.ts';
import { lastHint, nameOf, ranked, type Saying, stateOf } from './states.ts';

/** `shop/refund`: the world, and the task that it was opened on. */
const titleOf = ({ slug, taskName }: ToldSession): string =>
  nameOf(taskName === null ? slug : `${slug}/${taskName}`);

/** Its trace is its own, and not one that whoever opened it was in. */
const hasOwnTrace = ({ id, traceId }: ToldSession): boolean => traceId === traceIdOf(id);

const endOf = ({ createdAt, readyAt, closedAt }: ToldSession): number =>
  (closedAt ?? readyAt ?? createdAt).getTime();

const factsOf = ({ slug, versionId, taskName, taskId }: ToldSession): Record<string, unknown> => ({
  world: slug,
  versionId,
  ...(taskName === null ? {} : { task: taskName }),
  ...(taskId === null ? {} : { taskId }),
});

/** In the metadata of a trace each of its sessions has a place under its id: there may be several. */
const linkTo = (session: ToldSession): Record<string, unknown> => ({
  worldSessions: { [session.id]: factsOf(session) },
});

/** `world:shop` and `task:refund`: lists of traces are filtered by tags. */
const tagsOf = ({ slug, taskName }: ToldSession): string[] =>
  [`world:${slug}`, ...(taskName === null ? [] : [`task:${taskName}`])].map(nameOf).sort();

/** The build as traces name it: its hash is the release, its version the version. */
const buildOf = ({ buildHash: release, buildVersion: version }: ToldSession) => ({
  release,
  version,
});

// Whatever else says something of the trace counts for more.
const hint = (ms: number): Saying => ({ standing: 'hint', ms });

/** What the trace of an agent is told of a session that it uses: that there is one. */
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

/** Names a session in a trace that is not its own. */
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

/** The session as it is now. */
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

/** What it came to by its latest grade: the output of its span, and of the trace while nobody says otherwise. */
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
