import picocolors from 'picocolors';
import { expect, it } from 'vitest';
import type { RequestView } from '#wire/public-api/request.ts';
import { describeLedger } from './request.ts';

it('the ledger shows where a browser went, and what it says of a page, a file and its fence', () => {
  const entry = (
    operation: string,
    path: string | null,
    request: Record<string, unknown>,
  ): RequestView => ({
    ...{ sessionId: 'ses-1', id: 1, at: '2026-03-01T09:30:00.000Z', via: 'browser', operation },
    ...{ method: null, path, status: null, request, response: null, durationMs: 0 },
    ...{ changes: {}, rows: [], callId: null },
  });
  const page = 'http://ses-1--ui.localhost:4400/ada/boats?state=open';
  const lines = describeLedger(
    [
      entry('navigated', page, { tab: 'A' }),
      entry('navigated', 'about:blank', { tab: 'A' }),
      entry('downloaded', page, { name: 'list.csv', sizeBytes: 12, download: 'd-1' }),
      entry('console_error', page, { message: 'x is not a function\nat app.js' }),
      entry('refused', null, { what: 'Page.navigate', why: 'not of this session' }),
      entry('restored', null, { tabs: 1, tookMs: 80 }),
    ],
    picocolors.createColors(false),
  ).split('\n');
  expect(lines.slice(1).map((line) => line.split(/ {2,}/).slice(2, 4))).toEqual([
    ['navigated', '/ada/boats?state=open'],
    ['navigated', 'about:blank'],
    ['downloaded', '/ada/boats?state=open: list.csv'],
    [
      'console_error',
      expect.stringMatching(/^\/ada\/boats\?state=open: x is not a function.*at app\.js$/),
    ],
    ['refused', 'Page.navigate: not of this session'],
    ['restored', '-'],
  ]);
});
