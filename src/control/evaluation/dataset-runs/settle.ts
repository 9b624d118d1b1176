/**
 * Settles the sessions of a dataset run on a world: links and closes graded ones, and marks the items of failed ones.
 */

import { describeAgentEnd, isAgentFailure } from '#domain/agent-end.ts';
import type { Queryable } from '../../db/core/database.ts';
import {
  type ClaimedPlay,
  listOpen,
  type OpenRollout,
  setRollout,
  stopPlay,
} from '../../db/evaluation/dataset-plays.ts';
import { findDatasetRunByKey } from '../../db/evaluation/dataset-runs.ts';
import type { Parts } from '../../parts.ts';
import { closeAndWait } from '../../sessions/lifecycle/close.ts';
import { linkTrace } from '../datasets/runs.ts';

type Play = Pick<ClaimedPlay, 'runKey' | 'projectId'>;

/**
 * Closes a session that no item needs any more. If that fails, the periodic cleanup closes it
 * (`operations/maintenance.ts`).
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

const link = async (tx: Queryable, { runKey }: Play, rollout: OpenRollout): Promise<void> => {
  const { itemKey, sessionId, verdict, score } = rollout;
  const run = await findDatasetRunByKey(tx, runKey);
  if (run === undefined) return;
  await linkTrace(tx, run, rollout);
  await setRollout(tx, {
    ...{ runKey, itemKey, from: 'OPEN', state: 'GRADED', sessionId, verdict, score, error: null },
  });
};

const giveUp = (
  db: Queryable,
  { runKey }: Play,
  { itemKey, sessionId }: OpenRollout,
  error: string,
): Promise<void> =>
  setRollout(db, {
    ...{ runKey, itemKey, from: 'OPEN', state: 'FAILED', sessionId, verdict: null, score: null },
    error,
  });

/** Returns the reason why the agent of an item failed, with its last line of output; undefined if it did not fail. */
const agentFailureOf = ({ agent }: OpenRollout): string | undefined => {
  if (agent === null || !isAgentFailure(agent.outcome)) return undefined;
  const last = agent.lastLines.at(-1);
  return `${describeAgentEnd(agent)}${last === undefined ? '' : `: ${last}`}`;
};

/**
 * Stops a run: opens no more sessions and closes the open ones. Grades given so far still count. A stopped run has no
 * open item left, so no worker claims it again.
 */
export const stopOpen = async (parts: Parts, play: Play, reason: string): Promise<void> => {
  const open = await parts.db.transaction(async (tx) => {
    await stopPlay(tx, play.runKey, reason);
    const rollouts = await listOpen(tx, play.runKey);
    for (const rollout of rollouts) {
      const failure = agentFailureOf(rollout);
      if (failure !== undefined) await giveUp(tx, play, rollout, failure);
      else if (rollout.verdict !== null) await link(tx, play, rollout);
      else await giveUp(tx, play, rollout, 'the run was stopped');
    }
    return rollouts;
  });
  await closeAll(parts, play.projectId, open);
};

/** Returns true if a session ended because no agent worked in it; then none will work in the next one either. */
const isForsaken = ({ endReason }: OpenRollout): boolean =>
  endReason === 'idle' || endReason === 'max_age';

/**
 * Links graded sessions, and fails the items whose sessions ended without a grade or whose agents failed. If a session
 * ended because no agent worked in it, the whole run is stopped.
 */
export const settleOpen = async (parts: Parts, play: Play): Promise<void> => {
  const open = await listOpen(parts.db, play.runKey);
  for (const rollout of open) {
    const { verdict, isClosed, endReason } = rollout;
    const failure = agentFailureOf(rollout);
    if (failure !== undefined) {
      await giveUp(parts.db, play, rollout, failure);
      await closeAll(parts, play.projectId, [rollout]);
    } else if (verdict !== null) {
      await parts.db.transaction((tx) => link(tx, play, rollout));
      await closeAll(parts, play.projectId, [rollout]);
    } else if (isClosed) {
      await giveUp(parts.db, play, rollout, `the session ended without a grade: ${endReason}`);
    }
  }
  const forsaken = open.find((one) => one.verdict === null && one.isClosed && isForsaken(one));
  if (forsaken === undefined) return;
  const { sessionId, endReason } = forsaken;
  await stopOpen(parts, play, `no agent worked in ${sessionId}: it ended for "${endReason}"`);
};
