/**
 * Settles the sessions of a dataset run on a world: links and closes sessions that were graded, and sets the items of
 * failed sessions to failed.
 */

import { describeAgentEnd, isAgentFailure } from '#domain/agent-end.ts';
import type { Queryable } from '../../db/core/database.ts';
import { findDatasetRunByKey } from '../../db/evaluation/dataset-runs.ts';
import {
  type ClaimedWorldRun,
  listOpen,
  type OpenRollout,
  setRollout,
  stopWorldRun,
} from '../../db/evaluation/dataset-world-runs.ts';
import type { Parts } from '../../parts.ts';
import { closeAndWait } from '../../sessions/lifecycle/close.ts';
import { linkTrace } from '../datasets/runs.ts';

type WorldRun = Pick<ClaimedWorldRun, 'runKey' | 'projectId'>;

/**
 * Closes a session that no item of a run needs any more. If closing fails, the periodic cleanup closes the session
 * later (`operations/maintenance.ts`).
 */
export const closeForRun = async (
  parts: Parts,
  projectId: string,
  sessionId: string,
): Promise<void> => {
  const { signal } = new AbortController();
  try {
    await closeAndWait(parts, { projectId, sessionId, seconds: 0, signal }, false);
  } catch (err) {
    parts.log.warn(
      { err, sessionId },
      'failed to close a session of a dataset run; the cleanup closes it',
    );
  }
};

const closeAll = async (
  parts: Parts,
  projectId: string,
  rollouts: readonly OpenRollout[],
): Promise<void> => {
  for (const { sessionId, isClosed } of rollouts) {
    if (!isClosed) await closeForRun(parts, projectId, sessionId);
  }
};

const link = async (tx: Queryable, { runKey }: WorldRun, rollout: OpenRollout): Promise<void> => {
  const { itemKey, sessionId, verdict, score } = rollout;
  const run = await findDatasetRunByKey(tx, runKey);
  if (run === undefined) return;
  await linkTrace(tx, run, rollout);
  await setRollout(tx, {
    ...{ runKey, itemKey, from: 'OPEN', state: 'GRADED', sessionId, verdict, score, error: null },
  });
};

const failRollout = (
  db: Queryable,
  { runKey }: WorldRun,
  { itemKey, sessionId }: OpenRollout,
  error: string,
): Promise<void> =>
  setRollout(db, {
    ...{ runKey, itemKey, from: 'OPEN', state: 'FAILED', sessionId, verdict: null, score: null },
    error,
  });

/** Returns why the agent of an item failed, with the last line of the agent's output; undefined if it did not fail. */
const agentFailureOf = ({ agent }: OpenRollout): string | undefined => {
  if (agent === null || !isAgentFailure(agent.outcome)) return undefined;
  const last = agent.lastLines.at(-1);
  return `${describeAgentEnd(agent)}${last === undefined ? '' : `: ${last}`}`;
};

/**
 * Stops a run: opens no more sessions and closes the open ones. Grades given before still count. Afterwards the run has
 * no open item, so no worker claims it again.
 */
export const stopOpen = async (parts: Parts, worldRun: WorldRun, reason: string): Promise<void> => {
  const open = await parts.db.transaction(async (tx) => {
    await stopWorldRun(tx, worldRun.runKey, reason);
    const rollouts = await listOpen(tx, worldRun.runKey);
    for (const rollout of rollouts) {
      const failure = agentFailureOf(rollout);
      if (failure !== undefined) await failRollout(tx, worldRun, rollout, failure);
      else if (rollout.verdict !== null) await link(tx, worldRun, rollout);
      else await failRollout(tx, worldRun, rollout, 'the run was stopped');
    }
    return rollouts;
  });
  await closeAll(parts, worldRun.projectId, open);
};

/** Returns true if a session ended because no agent worked in it; no agent would work in the next session either. */
const hadNoAgent = ({ endReason }: OpenRollout): boolean =>
  endReason === 'idle' || endReason === 'max_age';

/**
 * Links graded sessions, and fails the items whose sessions ended without a grade or whose agents failed. If a session
 * ended because no agent worked in it, stops the whole run.
 */
export const settleOpen = async (parts: Parts, worldRun: WorldRun): Promise<void> => {
  const open = await listOpen(parts.db, worldRun.runKey);
  for (const rollout of open) {
    const { verdict, isClosed, endReason } = rollout;
    const failure = agentFailureOf(rollout);
    if (failure !== undefined) {
      await failRollout(parts.db, worldRun, rollout, failure);
      await closeAll(parts, worldRun.projectId, [rollout]);
    } else if (verdict !== null) {
      await parts.db.transaction((tx) => link(tx, worldRun, rollout));
      await closeAll(parts, worldRun.projectId, [rollout]);
    } else if (isClosed) {
      await failRollout(
        parts.db,
        worldRun,
        rollout,
        `the session ended without a grade: ${endReason}`,
      );
    }
  }
  const idle = open.find((one) => one.verdict === null && one.isClosed && hadNoAgent(one));
  if (idle === undefined) return;
  const { sessionId, endReason } = idle;
  await stopOpen(
    parts,
    worldRun,
    `no agent worked in the session ${sessionId}, which ended with the reason "${endReason}"`,
  );
};
