/** Adds a session to the rollout group ("run") of an agent build. The release gate counts the sessions of such runs. */
import { AppError } from '#domain/error.ts';
import type { RunOfSession } from '#wire/public-api/evaluation/release.ts';
import type { Database } from '../../db/core/database.ts';
import {
  type DeclaredRun,
  findDeclaredRun,
  joinRun,
  mostRuns,
} from '../../db/evaluation/agent-runs.ts';

type Known = Pick<DeclaredRun, 'buildHash' | 'model' | 'planned'>;

/** Returns why a run does not accept the session as a rollout. */
const refusalOf = (known: DeclaredRun, wanted: Known, id: string): string => {
  if (known.finishedAt !== null) {
    return `run "${id}" was finished at ${known.finishedAt.toISOString()}; give the session a run of another id`;
  }
  const members = ['buildHash', 'model', 'planned'] as const;
  const differing = members.find((member) => {
    const given = wanted[member];
    return given !== null && given !== known[member];
  });
  if (differing === undefined) return `run "${id}" is being changed; try again`;
  return `run "${id}" has ${differing} ${JSON.stringify(known[differing])}, not ${JSON.stringify(wanted[differing])}; give the session a run of another id`;
};

/** Builds the error for a build that is not registered. */
export const noBuildOfHash = (buildHash: string): AppError =>
  new AppError('not_found', `there is no agent build with the buildHash "${buildHash}"`, {
    detail: { hint: 'register it first: svc release builds register, or POST /agent-builds' },
  });

/**
 * Registers a session as a rollout of its run before the session is opened, so that every session is counted. Returns
 * the run and the build. Throws `not_found` if the build is not registered, and `conflict` if the run is finished or
 * belongs to another build.
 */
export const joinRunOfSession = async (
  db: Database,
  { projectId, sessionId }: { projectId: string; sessionId: string },
  { id: runId, buildHash, model = null, planned = null }: RunOfSession,
): Promise<{ agentRunId: string; buildId: string }> => {
  const wanted = { buildHash, model, planned };
  const { buildId, isTaken } = await joinRun(db, { projectId, sessionId, runId, ...wanted });
  if (buildId === null) throw noBuildOfHash(buildHash);
  if (isTaken) return { agentRunId: runId, buildId };
  const known = await findDeclaredRun(db, projectId, runId);
  const message =
    known === undefined
      ? `the build "${buildHash}" has ${mostRuns} runs, the maximum; open the sessions of one run with the same run id`
      : refusalOf(known, wanted, runId);
  throw new AppError('conflict', message, { detail: { error: 'run_differs' } });
};
