/**
 * Writes the number of a ledger's last entry into a file. When a host is killed, its undelivered entries are lost; the
 * orchestrator reads the file to report how many. The file is written before an answer is sent, which takes about 3 µs.
 * It is not flushed to disk, because it must survive only the end of the process, not of the machine.
 */
import { closeSync, constants, openSync, writeSync } from 'node:fs';
import { writeLedgerMark } from '#domain/ledger.ts';
import type { Log } from '#runtime/log.ts';
import type { Ledger } from './ledger.ts';

/** Opens the file. If the runtime does not allow that, logs a warning and returns undefined. */
const openMark = (path: string, log: Log): number | undefined => {
  try {
    // The file is not truncated first, so that a reader always finds this mark or the one before.
    return openSync(path, constants.O_WRONLY | constants.O_CREAT, 0o600);
  } catch (err) {
    log.warn({ err }, 'if this host is killed, its undelivered ledger entries cannot be counted');
    return undefined;
  }
};

/**
 * Writes the number of a session's last ledger entry into the file, each time that it changes, until the ledger is
 * closed. Does nothing without a file.
 */
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
