import { X509Certificate } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, createServer } from 'node:tls';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openAuthority, renewBelowMs } from './authority.ts';

const dayMs = 86_400_000;

describe('authority', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'svc-authority-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const file = (name: string): string => join(folder, name);
  const open = (now?: number) =>
    openAuthority(folder, 'ins-a', now === undefined ? undefined : () => now);

  /**
   * Returns whether a client that trusts the authority and connects to the host `asked` accepts a certificate for
   * `names`.
   */
  const verdict = async (names: string[], asked: string): Promise<string> => {
    const authority = await open();
    const server = createServer(await authority.issue(names)).listen(0, '127.0.0.1');
    server.on('tlsClientError', () => undefined);
    try {
      await new Promise((resolve) => server.once('listening', resolve));
      const { port } = server.address() as AddressInfo;
      return await new Promise((resolve) => {
        const socket = connect({ port, host: '127.0.0.1', servername: asked, ca: authority.pem });
        socket.once('secureConnect', () => resolve('trusted'));
        socket.once('error', ({ message }) => resolve(message));
        socket.once('close', () => socket.destroy());
        server.once('close', () => socket.destroy());
      });
    } finally {
      server.close();
    }
  };

  it('signs certificates for names of this machine', async () => {
    expect(await verdict(['ses-1--api.localhost'], 'ses-1--api.localhost')).toBe('trusted');
    expect(await verdict(['localhost', '127.0.0.1', '::1'], 'localhost')).toBe('trusted');
  });

  it('is not trusted for other names, whatever its key signs', async () => {
    expect(await verdict(['bank.example'], 'bank.example')).toBe('permitted subtree violation');
    expect(await verdict(['localhost.example'], 'localhost.example')).toBe(
      'permitted subtree violation',
    );
    expect(await verdict(['localhost', '10.0.0.1'], 'localhost')).toBe(
      'permitted subtree violation',
    );
    expect(await verdict(['a.localhost'], 'b.localhost')).toMatch('is not in the cert');
  });

  it('is created once, with a key that only its owner can read', async () => {
    const first = await open();
    const again = await open();
    expect([again.pem, again.wasRenewed]).toEqual([first.pem, false]);
    expect(statSync(file('authority.key')).mode & 0o777).toBe(0o600);
    expect(readFileSync(file('ca-bundle.pem'), 'utf8')).toContain(first.pem.trim());
  });

  it('is renewed before it expires, and clients that trust the earlier one keep working', async () => {
    const first = await open();
    const later = first.until.getTime() - renewBelowMs + dayMs;
    const renewed = await open(later);
    expect(renewed.wasRenewed).toBe(true);
    expect(renewed.until.getTime()).toBeGreaterThan(later + 2 * renewBelowMs);
    const [leaf = ''] = (await renewed.issue(['localhost'])).cert.split(
      /(?<=-----END CERTIFICATE-----\n)/,
    );
    const earlier = new X509Certificate(first.pem);
    expect(new X509Certificate(leaf).verify(earlier.publicKey)).toBe(true);
    expect(new X509Certificate(leaf).checkIssued(earlier)).toBe(true);
  });

  it('is renewed while the service runs, and issues no certificate that outlives it', async () => {
    let now = Date.now();
    const authority = await openAuthority(folder, 'ins-a', () => now);
    now = authority.until.getTime() - dayMs;
    const { cert } = await authority.issue(['localhost']);
    const ends = (pem: string) => Date.parse(new X509Certificate(pem).validTo);
    expect(ends(cert)).toBeGreaterThan(now + 29 * dayMs);
    expect(ends(readFileSync(file('ca.pem'), 'utf8'))).toBeGreaterThan(ends(cert));
  });

  it('issues a certificate again if it is missing or belongs to another key, and names a key that cannot be read', async () => {
    const first = await open();
    rmSync(file('ca.pem'));
    const again = await open();
    expect(
      new X509Certificate(again.pem).publicKey.equals(new X509Certificate(first.pem).publicKey),
    ).toBe(true);
    rmSync(file('authority.key'));
    const other = await open();
    expect(other.pem).not.toBe(again.pem);
    writeFileSync(file('authority.key'), 'nonsense');
    await expect(open()).rejects.toThrow(
      `${file('authority.key')} is not a readable key of an authority`,
    );
  });
});
