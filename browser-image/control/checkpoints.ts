/** Sends checkpoints to the control plane, which keeps the last one of each session. */
import { limits } from '#domain/limits.ts';
import { keepCheckpoint } from '#wire/host-api/operations.ts';
import type { Checkpoint } from '../watch/checkpoint.ts';
import type { Agent, Session } from './state.ts';

/** Timeout for sending a checkpoint, in milliseconds; the next checkpoint follows soon. */
const keepMs = 10_000;

/** Checkpoint as the control plane stores it, with the number of session resets that its profile has seen. */
export type Kept = Checkpoint & { resets?: number };

export const readCheckpoint = (text: string | null): Kept | undefined =>
  text === null ? undefined : (JSON.parse(text) as Kept);

/**
 * Queues the checkpoint for sending. Only the newest one matters: while a send is in flight, a newer checkpoint
 * replaces the one that waits.
 */
export const keep = (agent: Agent, session: Session, checkpoint: Checkpoint): void => {
  const { link, log } = agent;
  const { sessionId, generation } = session.assignment;
  session.sequence += 1;
  const { sequence, resets } = session;
  const content = JSON.stringify({ ...checkpoint, resets });
  if (content.length > limits.checkpointChars) {
    session.world.note({
      at: checkpoint.at,
      operation: 'checkpoint_too_large',
      detail: { chars: content.length, most: limits.checkpointChars },
    });
    return;
  }
  const send = async (): Promise<void> => {
    if (session.sequence !== sequence) return;
    const body = { generation, sequence, content };
    const signal = AbortSignal.timeout(keepMs);
    await link.sendOnce(keepCheckpoint, { params: { sessionId }, body }, { signal });
  };
  session.keeping = session.keeping
    .then(send)
    .catch((err: unknown) => log.warn({ err }, 'a checkpoint could not be uploaded'));
};
