/**
 * Tests that receivers accept the signatures of each scheme. The vendors' own verifiers are used if they are small,
 * otherwise recorded results of their libraries.
 */
import { createHmac } from 'node:crypto';
import { verify as verifyGithub } from '@octokit/webhooks-methods';
import { Webhook } from 'standardwebhooks';
import { Stripe } from 'stripe';
import { describe, expect, it } from 'vitest';
import { compileTree } from '#language/compile/compile.ts';
import type { WebhooksContract } from '#language/contract.ts';
import { hardBody, signingSchemes, webhooksTable } from '#test/support/webhooks/signing-schemes.ts';
import { hookedWorld } from '#test/support/worlds/webhook-world.ts';
import { signedHeaders } from './signing.ts';

const body = JSON.stringify({ action: 'closed', title: 'Ünï', n: 1 });
const unsigned = { id: 'msg-1', event: 'issues', body, timestamp: 1_767_225_600 };

const sign = (
  signing: WebhooksContract['signing'],
  headers: WebhooksContract['headers'],
  secret: string,
  timestamp = unsigned.timestamp,
) => signedHeaders({ signing, headers }, { ...unsigned, secret, timestamp });

describe('a delivery of a world', () => {
  it.each(Object.entries(signingSchemes))(
    'is accepted by a receiver of the scheme %s, but not with another body',
    async (_, scheme) => {
      const compiled = compileTree(hookedWorld([], webhooksTable(scheme)));
      if (!compiled.ok || compiled.contract.webhooks === null) throw new Error('no webhooks');
      const text = JSON.stringify(hardBody);
      const timestamp = Math.floor(Date.now() / 1000);
      const delivery = { ...unsigned, body: text, secret: scheme.secret, timestamp };
      const headers = signedHeaders(compiled.contract.webhooks, delivery) ?? {};
      const accepts = async (said: string): Promise<boolean> =>
        scheme.accepts({ headers, body: Buffer.from(said) }, scheme.secret);
      expect(await accepts(text)).toBe(true);
      if (scheme.signing === 'none') return;
      expect(await accepts(`${text} `).catch(() => false)).toBe(false);
    },
  );
});

describe('a delivery', () => {
  const standard = {
    id: 'webhook-id',
    timestamp: 'webhook-timestamp',
    signature: 'webhook-signature',
  };
  const secret = `whsec_${Buffer.from('a key of some 24 bytes..').toString('base64')}`;

  it('passes Standard Webhooks’ own verifier, which also requires that its timestamp is recent', () => {
    const now = Math.floor(Date.now() / 1000);
    const headers = sign('standard-webhooks', standard, secret, now) ?? {};
    expect(new Webhook(secret).verify(body, headers)).toEqual(JSON.parse(body));
    expect(headers).toMatchObject({ 'webhook-id': 'msg-1', 'content-type': 'application/json' });
    const bare = sign('standard-webhooks', standard, secret.slice('whsec_'.length), now);
    expect(bare).toEqual(headers);
    expect(() => new Webhook(secret).verify(`${body} `, headers)).toThrow('No matching signature');
    const old = sign('standard-webhooks', standard, secret, now - 600) ?? {};
    expect(() => new Webhook(secret).verify(body, old)).toThrow('too old');
  });

  it('passes GitHub’s own verifier', async () => {
    const names = {
      event: 'x-github-event',
      id: 'x-github-delivery',
      signature: 'x-hub-signature-256',
    };
    const headers = sign('github', names, 'It’s a secret') ?? {};
    const signature = String(headers['x-hub-signature-256']);
    expect(await verifyGithub('It’s a secret', body, signature)).toBe(true);
    expect(await verifyGithub('another', body, signature)).toBe(false);
    expect(headers).toMatchObject({ 'x-github-event': 'issues', 'x-github-delivery': 'msg-1' });
  });

  it('passes Stripe’s own verifier, which also requires that its timestamp is recent', () => {
    const now = Math.floor(Date.now() / 1000);
    const names = { signature: 'stripe-signature' };
    const receive = (text: string, secret: string, timestamp = now): unknown => {
      const headers = sign('stripe', names, 'whsec_test', timestamp) ?? {};
      return Stripe.webhooks.constructEvent(text, String(headers['stripe-signature']), secret);
    };
    expect(receive(body, 'whsec_test')).toEqual(JSON.parse(body));
    expect(() => receive(`${body} `, 'whsec_test')).toThrow('No signatures found');
    expect(() => receive(body, 'whsec_other')).toThrow('No signatures found');
    expect(() => receive(body, 'whsec_test', now - 600)).toThrow('outside the tolerance');
  });

  it('has the signature that Stripe’s library makes', () => {
    const signature = 'f6022930764f751fa53916e8f87e80bec351f5eb0123b5cc39448e116c304a12';
    expect(sign('stripe', { signature: 'stripe-signature' }, 'whsec_test')).toEqual({
      'content-type': 'application/json',
      'stripe-signature': `t=1767225600,v1=${signature}`,
    });
  });

  it('is signed with the plain HMAC of its body for Linear and for vendors without a scheme of their own', () => {
    const hex = createHmac('sha256', 'lin_wh').update(body, 'utf8').digest('hex');
    const names = { event: 'linear-event', id: 'linear-delivery', signature: 'linear-signature' };
    expect(sign('linear', names, 'lin_wh')).toMatchObject({
      'linear-event': 'issues',
      'linear-delivery': 'msg-1',
      'linear-signature': hex,
    });
    expect(sign('hmac-sha256', { signature: 'x-signature' }, 'lin_wh')).toMatchObject({
      'x-signature': `sha256=${hex}`,
    });
  });

  it('has no signature if the vendor signs nothing', () => {
    expect(sign('none', {}, '')).toEqual({ 'content-type': 'application/json' });
  });

  it('cannot be signed with a secret that is invalid for its scheme', () => {
    for (const broken of ['', 'whsec_', 'whsec_*', 'whsec_abcde', 'pass word']) {
      expect(sign('standard-webhooks', standard, broken)).toBeUndefined();
    }
    for (const signing of ['github', 'linear', 'stripe', 'hmac-sha256'] as const) {
      expect(sign(signing, { signature: 'x-signature' }, '')).toBeUndefined();
    }
  });
});
