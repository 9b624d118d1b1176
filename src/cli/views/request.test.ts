import picocolors from 'picocolors';
import { describe, expect, it } from 'vitest';
import type { RequestView } from '#wire/public-api/sessions/request.ts';
import { describeLedger } from './request.ts';

const view = { colors: picocolors.createColors(false), columns: Infinity };

const asked = (parts: Partial<RequestView>): RequestView => ({
  ...{ sessionId: 'ses-1', id: 1, at: '2026-03-01T09:30:00.000Z', via: 'api', operation: 'book' },
  ...{ method: 'POST', path: '/appointments', status: 201, request: null, response: null },
  ...{ durationMs: 12, changes: {}, rows: [], callId: null, ...parts },
});

describe('a request in a list', () => {
  it.each<[string, Partial<RequestView>, string]>([
    [
      'in the words of the host',
      { status: 422, response: { body: '', reason: 'no such field' } },
      'no such field',
    ],
    [
      'in those of the vendor',
      {
        status: 409,
        response: { body: { error: { type: 'taken', message: 'Taken' } }, reason: null },
      },
      'Taken',
    ],
    [
      'in those of a list',
      { status: 400, response: { body: { errors: [{ detail: 'Too long' }] }, reason: null } },
      'Too long',
    ],
    ['in a text', { status: 503, response: { body: 'Back soon', reason: null } }, 'Back soon'],
    [
      'of a fault in code',
      { status: 500, response: { body: {}, reason: 'raised: book:\n  KeyError' } },
      'raised: book: KeyError',
    ],
    [
      'of a call',
      { via: 'tool', status: null, response: { error: { code: 'refused', message: 'No room' } } },
      'No room',
    ],
  ])('has the reason of its failure below it, %s', (_, parts, reason) => {
    const lines = describeLedger([asked({}), asked(parts), asked({})], view).split('\n');
    expect(lines).toHaveLength(5);
    expect(lines[3]).toBe(`    ${reason}`);
  });

  it.each<[string, Partial<RequestView>]>([
    ['went well', { status: 200, response: { body: { message: 'Hello' }, reason: 'cut' } }],
    ['says nothing', { status: 404, response: { body: null, reason: null } }],
  ])('has no line below it if the request %s', (_, parts) => {
    expect(describeLedger([asked(parts)], view).split('\n')).toHaveLength(2);
  });

  it('makes terminal control characters visible', () => {
    const response = { body: null, reason: 'no \u001b[2J row' };
    const shown = describeLedger([asked({ status: 404, response })], view);
    expect(shown).not.toContain('\u001b');
    expect(shown).toContain('row');
  });
});

it('a ledger fits a terminal of 80 columns, with reasons and changes on lines below the requests', () => {
  const path = `/clinics/${'north'.repeat(20)}/appointments`;
  const response = { body: null, reason: 'a reason of some length '.repeat(6).trim() };
  const changes = { appointments: { inserted: 1, updated: 0, deleted: 0 } };
  const lines = describeLedger([asked({ path, status: 422, response }), asked({ changes })], {
    ...view,
    columns: 80,
  }).split('\n');
  expect(lines.filter((line) => line.length > 80)).toEqual([]);
  expect(lines[1]).toContain('…');
  expect(lines.filter((line) => line.startsWith('    a reason'))).not.toEqual([]);
  expect(lines.at(-1)).toBe('    changed appointments: 1 inserted');
});

it('the ledger shows requests of a browser, with details of pages, files and refused addresses', () => {
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
    view,
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
