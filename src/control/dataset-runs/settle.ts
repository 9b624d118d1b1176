/** What becomes of the sessions of a run on a world: graded ones are linked and closed, others leave their items for later. */

import { linkTrace } from '../datasets/runs.ts';
import {
  type ClaimedPlay,
  listOpen,
  type OpenRollout,
  setRollout,
  stopPlay,
} from '../db/dataset-plays.ts';
import { findDatasetRunByKey } from '../db/dataset-runs.ts';
import type { Parts } from '../parts.ts';
import { closeAndWait } from '../sessions/close.ts';

type Play = Pick<ClaimedPlay, 'runKey' | 'projectId'>;

const close = async (parts: Parts, projectId: string, sessionId: string): Promise<void> => {
  const { signal } = new AbortController();
  await closeAndWait(parts, { projectId, sessionId, seconds: 0, signal }, false);
};

const link = async (parts: Parts, { runKey, projectId }: Play, rollout: OpenRollout) => {
  const { itemKey, sessionId, verdict, score, isClosed } = rollout;
  await parts.db.transaction(async (tx) => {
    const run = await findDatasetRunByKey(tx, runKey);
    if (run === undefined) return;
    await linkTrace(tx, run, rollout);
    await setRollout(tx, {
      ...{ runKey, itemKey, from: 'OPEN', state: 'GRADED', sessionId, verdict, score, error: null },
    });
  });
  if (!isClosed) await close(parts, projectId, sessionId);
};

const giveUp = (
  { db }: Parts,
  { runKey }: Play,
  { itemKey, sessionId }: OpenRollout,
  error: string,
): Promise<void> =>
  setRollout(db, {
    ...{ runKey, itemKey, from: 'OPEN', state: 'FAILED', sessionId, verdict: null, score: null },
    error,
  });

/** Opens no more sessions and closes those that are open; what was graded counts all the same. */
export const stopOpen = async (parts: Parts, play: Play, reason: string): Promise<void> => {
  await stopPlay(parts.db, play.runKey, reason);
  for (const rollout of await listOpen(parts.db, play.runKey)) {
    if (rollout.verdict !== null) {
      await link(parts, play, rollout);
      continue;
    }
    await giveUp(parts, play, rollout, 'the run was stopped');
    if (!rollout.isClosed) await close(parts, play.projectId, rollout.sessionId);
  }
};

/** Nobody worked in it, so that nobody will in the next one. */
const isForsaken = ({ endReason }: OpenRollout): boolean =>
  endReason === 'idle' || endReason === 'max_age';

/** Links what was graded and notes what ended without a grade; a run that nobody works in is stopped. */
export const settleOpen = async (parts: Parts, play: Play): Promise<void> => {
  const open = await listOpen(parts.db, play.runKey);
  for (const rollout of open) {
    const { verdict, isClosed, endReason } = rollout;
    if (verdict !== null) await link(parts, play, rollout);
    else if (isClosed) {
      await giveUp(parts, play, rollout, `the session ended without a grade: ${endReason}`);
    }
  }
  const forsaken = open.find((one) => one.verdict === null && one.isClosed && isForsaken(one));
  if (forsaken === undefined) return;
  const { sessionId, endReason } = forsaken;
  await stopOpen(parts, play, `nobody worked in ${sessionId}: it ended for "${endReason}"`);
};
