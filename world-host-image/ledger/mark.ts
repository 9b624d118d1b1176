/**
 * The number of a ledger's last entry in a file outside of the process. A host that is killed takes along what it had
 * not delivered; by the file the orchestrator says how many entries that were. It is written before an answer is sent,
 * in some 3 µs, and never flushed to disk: it has to outlive the process, not the machine.
 */
import { closeSync, constants, openSync, writeSync } from 'node:fs';
import { writeLedgerMark } from '#domain/ledger.ts';
import type { Log } from '#runtime/log.ts';
import type { Ledger } from './ledger.ts';

/** Opens the file; undefined, with a line in the log, where the runtime does not let it be written. */
const openMark = (path: string, log: Log): number | undefined => {
  try {
    // Not shortened first: a reader finds this mark or the one before, and never none.
    return openSync(path, constants.O_WRONLY | constants.O_CREAT, 0o600);
  } catch (err) {
    log.warn({ err }, 'entries that a killed host takes along will not be counted');
    return undefined;
  }
};

/** Keeps the mark of a session's ledger in the file until it is closed; without a file it does nothing. */
export const keepMark = (
  { ledgerMark: path, log }: { ledgerMark?: string | undefined; log: Log },
  { id: sessionId, ledger }: { id: string; ledger: Pick<Ledger, 'onEntry'> },
): { close(): void } => {
  const file = path === undefined ? undefined : openMark(path, log);
  if (file === undefined) return { close: () => undefined };
  ledger.onEntry((lastEntry) => {
    writeSync(file, writeLedgerMark({ sessionId, lastEntry }), 0);
  });
  return {
    close() {
      ledger.onEntry(() => undefined);
      closeSync(file);
    },
  };
};
