/**
 * Gives the entries of a session's ledger to the control plane, where they outlive the session: a few
 * at a time while it is served, what is left when it ends. A host that dies takes along what it has not
 * delivered yet.
 */
import { AppError } from '#domain/error.ts';
import { limits } from '#domain/limits.ts';
import type { Log } from '#runtime/log.ts';
import { startLoop } from '#runtime/loop.ts';
import { deliverRequests } from '#wire/host-api/operations.ts';
import type { ControlLink } from './control-link.ts';
import type { Session } from './session/session.ts';
import type { Standing } from './standing.ts';

export type LedgerDelivery = {
  /** Delivers what is left, for as long as that may take, and ends. */
  finish(): Promise<void>;
};

export type DeliveryOptions = { link: ControlLink; log: Log; standing: Standing };

const everyMs = 2_000;
/** Of the end: a session is not kept waiting for its ledger longer than that. */
const finishMs = 5_000;

type Batch = { entries: number; chars: number };
const whole: Batch = { entries: limits.ledgerBatchEntries, chars: limits.ledgerBatchChars };
const single: Batch = { ...whole, entries: 1 };

/** Whether the control plane will never take this message, whoever repeats it. */
const isRefused = (error: unknown): boolean =>
  error instanceof AppError && error.code === 'invalid';

/** Begins to deliver. */
export const startLedgerDelivery = (
  { link, log, standing }: DeliveryOptions,
  { id: sessionId, ledger: { backlog } }: Pick<Session, 'id' | 'ledger'>,
): LedgerDelivery => {
  const { generation } = standing;
  let batch = whole;

  /** Sends the first entries; one that is refused is sent alone, and then left out. */
  const deliver = async (send: ControlLink['send'], signal: AbortSignal): Promise<void> => {
    const waiting = backlog.first(batch);
    const last = waiting.at(-1);
    if (last === undefined) return;
    const body = { generation, entries: waiting.map(({ json }) => json) };
    try {
      await send(deliverRequests, { params: { sessionId }, body }, { signal });
      batch = whole;
    } catch (error) {
      if (!isRefused(error)) throw error;
      if (waiting.length > 1) {
        batch = single;
        return;
      }
      log.warn({ err: error, sessionId, entry: last.id }, 'an entry was not taken');
    }
    backlog.removeTo(last.id);
  };

  const loop = startLoop({
    name: 'ledger',
    everyMs,
    log,
    tick: (signal) => deliver(link.sendOnce, signal),
  });

  const deliverRest = async (): Promise<void> => {
    await loop.stop();
    const signal = AbortSignal.timeout(finishMs);
    try {
      while (backlog.size() > 0) await deliver(link.send, signal);
    } catch (error) {
      const lost = backlog.size();
      log.warn({ err: error, sessionId, lost }, 'the ledger is not delivered whole');
    }
  };

  let finished: Promise<void> | undefined;
  return {
    finish() {
      finished ??= deliverRest();
      return finished;
    },
  };
};
