/** File with the number of a ledger's last entry, as the orchestrator reads it after the host was killed. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { readLedgerMark } from '#domain/ledger.ts';
import { createLog } from '#runtime/log.ts';
import { type LedgerNote, openLedger } from './ledger.ts';
import { keepMark } from './mark.ts';

const note: LedgerNote = {
  ...{ at: '2026-01-01T00:00:00.000Z', operation: null, method: 'GET', path: '/', status: 200 },
  ...{ request: null, response: null, duration_ms: 1, changes: {}, call_id: null },
  via: 'api',
};

it('the file with the number of the last entry is written with each entry, and names the session that is served', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'svc-mark-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const ledgerMark = join(folder, 'mark');
  const kept = async () => readLedgerMark(await readFile(ledgerMark, 'utf8'));
  const log = createLog('test', 'silent');
  const first = { id: 'ses-1', ledger: openLedger() };
  const mark = keepMark({ ledgerMark, log }, first);
  expect(await kept()).toEqual({ sessionId: 'ses-1', lastEntry: 0 });
  for (let n = 1; n <= 12; n += 1) first.ledger.note(note);
  expect(await kept()).toEqual({ sessionId: 'ses-1', lastEntry: 12 });
  mark.close();
  keepMark({ ledgerMark, log }, { id: 'ses-2', ledger: openLedger() }).close();
  expect(await kept()).toEqual({ sessionId: 'ses-2', lastEntry: 0 });
});

it('a file without a valid number is read as undefined', () => {
  expect(readLedgerMark('')).toBeUndefined();
  expect(readLedgerMark('ledger ses-1 12')).toBeUndefined();
});
