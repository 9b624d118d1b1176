import { describe, expect, it } from 'vitest';
import { Secret } from '#runtime/secret.ts';
import { type Blobs, digestOf } from './blobs.ts';
import { createSignedAddresses } from './signed.ts';

const blobs = {} as Blobs;
const baseUrl = () => 'https://svc.test';
const awaited = { digest: digestOf('some bytes'), bytes: 10 };
const sha256 = awaited.digest.slice('sha256:'.length);
let time = Date.parse('2026-05-01T00:00:00Z');
const addresses = (secret = new Secret('a secret')) =>
  createSignedAddresses({ secret, blobs, baseUrl }, () => time);

const queryOf = (url: string) => Object.fromEntries(new URL(url).searchParams);
const refused = expect.objectContaining({ code: 'forbidden' });

describe('a signed address', () => {
  it('contains the digest and size that may be sent, and expires after an hour', async () => {
    const made = addresses();
    const { url, expiresAt } = await made.upload('chk-1', awaited);
    expect(url).toMatch(new RegExp(`^https://svc.test/api/blobs/${sha256}\\?`));
    expect(expiresAt.getTime() - time).toBe(3_600_000);
    expect(made.readTerms('PUT', sha256, queryOf(url))).toMatchObject(awaited);
    time += 3_601_000;
    expect(() => made.readTerms('PUT', sha256, queryOf(url))).toThrow(refused);
  });

  it('is valid only for the terms that its signature covers', async () => {
    const made = addresses();
    const upload = queryOf((await made.upload('chk-1', awaited)).url);
    const download = queryOf((await made.download(awaited.digest, { name: 'refusals.jsonl' })).url);
    expect(made.readTerms('GET', sha256, download)).toMatchObject({ name: 'refusals.jsonl' });
    const as = { name: 'ü 1.png', contentType: 'image/png' };
    const typed = queryOf((await made.download(awaited.digest, as)).url);
    expect(made.readTerms('GET', sha256, typed)).toMatchObject({
      name: 'ü 1.png',
      type: 'image/png',
    });
    const other = digestOf('other bytes').slice('sha256:'.length);
    const altered: (() => unknown)[] = [
      () => made.readTerms('GET', sha256, upload),
      () => made.readTerms('PUT', sha256, download),
      () => made.readTerms('PUT', other, upload),
      () => made.readTerms('PUT', `../${sha256}`, upload),
      () => made.readTerms('PUT', sha256, { ...upload, bytes: '11' }),
      () => made.readTerms('PUT', sha256, { ...upload, bytes: '1e1' }),
      () => made.readTerms('PUT', sha256, { ...upload, bytes: ['10'] }),
      () => made.readTerms('PUT', sha256, { ...upload, until: String(Number(upload.until) + 1) }),
      () => made.readTerms('PUT', sha256, { ...upload, name: 'chk-2' }),
      () => made.readTerms('GET', sha256, { ...download, name: 'other.jsonl' }),
      () => made.readTerms('GET', sha256, { ...download, name: '../other' }),
      () => made.readTerms('GET', sha256, { ...download, type: 'text/html' }),
      () => made.readTerms('GET', sha256, { ...typed, type: 'text/html' }),
      () => made.readTerms('GET', sha256, { ...typed, type: undefined }),
      () => made.readTerms('PUT', sha256, { ...upload, signature: undefined }),
      () => made.readTerms('PUT', sha256, { ...upload, signature: '' }),
      () => made.readTerms('PUT', sha256, { ...upload, signature: [upload.signature] }),
      () => made.readTerms('PUT', sha256, {}),
    ];
    for (const read of altered) expect(read).toThrow(refused);
  });

  it('stays valid while the secret is rotated, and is not valid in another installation', async () => {
    const { url } = await addresses(new Secret('before')).upload('chk-1', awaited);
    const replaced = addresses(new Secret('now', ['before']));
    expect(replaced.readTerms('PUT', sha256, queryOf(url))).toMatchObject(awaited);
    const elsewhere = addresses(new Secret('elsewhere'));
    expect(() => elsewhere.readTerms('PUT', sha256, queryOf(url))).toThrow(refused);
  });
});
