/**
 * Tests the output of a session's webhooks: no text of a world controls the terminal, and each line shows the outcome
 * of a delivery.
 */
import picocolors from 'picocolors';
import { describe, expect, it } from 'vitest';
import type { DeliveryView, SubscriptionView } from '#wire/public-api/sessions/delivery.ts';
import type { RequestView } from '#wire/public-api/sessions/request.ts';
import { describeLedger } from './request.ts';
import { describeForwarded, describeSubscriptions, forwardedAnswer } from './webhooks.ts';

const colors = picocolors.createColors(false);
const view = { colors, columns: Infinity };

const delivery: DeliveryView = {
  sequence: 12,
  generation: 0,
  event: 'issues',
  at: '2026-03-01T14:03:11.402Z',
  url: 'https://ci.example/hooks',
  subscription: { id: 1 },
  world: null,
  headers: { 'x-signature': 'secret' },
  body: '{}',
  answer: null,
};

const subscription: SubscriptionView = {
  key: { id: 1 },
  world: null,
  url: 'https://ci.example/hooks',
  events: ['issues', 'ping'],
  scope: { repository: ['north/berth'] },
  enabled: true,
  skips: null,
  deliveries: 3,
};

describe('the line of a forwarded delivery', () => {
  const forwarded = { status: 200, reason: null, durationMs: 14 };
  const start = '14:03:11.402  #12  issues  https://ci.example/hooks';

  it('shows the delivery with its answer, and the stored answer if that differs', () => {
    const own = { delivery, forwarded, kept: { status: 200, isOwn: true } };
    expect(describeForwarded(own, colors)).toBe(`${start}  200 in 14 ms`);
    const late = { ...own, kept: { status: 0, isOwn: false } };
    expect(describeForwarded(late, colors)).toBe(
      `${start}  200 in 14 ms; the stored answer is an earlier one: none`,
    );
    const none = {
      delivery,
      forwarded: { ...forwarded, status: 0, reason: 'refused' },
      kept: null,
    };
    expect(describeForwarded(none, colors)).toBe(
      `${start}  no answer: refused; the delivery is no longer stored, so this answer is not stored either`,
    );
    expect(forwardedAnswer(own)).toEqual({
      ...{ sequence: 12, generation: 0, event: 'issues', url: 'https://ci.example/hooks' },
      ...{ subscription: { id: 1 }, world: null, ...forwarded },
      kept: { status: 200, isOwn: true },
    });
  });

  it('contains no terminal control characters', () => {
    const odd = { ...delivery, event: '\u001b[2Jissues', url: 'https://a.example/\u202e' };
    const line = describeForwarded({ delivery: odd, forwarded, kept: null }, colors);
    expect(line).toContain('\\u001b[2Jissues  https://a.example/\\u202e');
  });
});

describe('a list of subscriptions', () => {
  it('is a table, with subscriptions without a receiver below it', () => {
    const more = { ...subscription, key: { owner: 'a', n: 2 }, world: 'crm', events: null };
    const off = { ...more, url: null, scope: {}, enabled: false, skips: 'it has no URL' };
    expect(describeSubscriptions([subscription, off], view).split('\n')).toEqual([
      'KEY      URL                       EVENTS        SCOPE                    STATE  DELIVERIES',
      '1        https://ci.example/hooks  issues, ping  repository: north/berth  on     3',
      'crm a 2  -                         all           any                      off    3',
      'crm a 2 is skipped: it has no URL',
    ]);
    expect(describeSubscriptions([], view)).toBe('no subscriptions');
  });
});

it('the ledger shows where a webhook was sent, its answer, and skipped subscriptions', () => {
  const entry = (parts: Partial<RequestView>): RequestView => ({
    ...{ sessionId: 'ses-1', id: 1, at: delivery.at, via: 'webhook', operation: 'issues' },
    ...{ method: 'POST', path: null, status: null, response: null, durationMs: 0 },
    ...{ changes: {}, rows: [], callId: null },
    request: { url: 'https://ci.example/hooks' },
    ...parts,
  });
  const lines = describeLedger(
    [
      entry({}),
      entry({
        ...{ operation: 'issues.answer', status: 0, request: { delivery: 12 } },
        response: { reason: 'no answer within 10 s' },
      }),
      entry({ via: 'webhook-skipped', request: { url: null }, response: { reason: 'no URL' } }),
    ],
    view,
  ).split('\n');
  expect(lines.slice(1).map((line) => line.split(/ {2,}/).slice(1, 5))).toEqual([
    ['webhook', 'issues', 'POST https://ci.example/hooks', '-'],
    ['webhook', 'issues.answer', 'answer to #12: no answer within 10 s', '0'],
    ['webhook-skipped', 'issues', 'POST: no URL', 'skipped'],
  ]);
});
