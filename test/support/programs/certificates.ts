/**
 * Certificates for tests: an authority of their own, and the certificates that it issues. No other program trusts it.
 */
import 'reflect-metadata';
import type { webcrypto } from 'node:crypto';
import * as x509 from '@peculiar/x509';

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;
const dayMs = 86_400_000;

export type Certificate = { key: string; cert: string };
export type Authority = {
  /** Certificate (PEM) of the authority, for clients to trust. */
  ca: string;
  /** Issues a certificate for the names and addresses; with `expired`, one that expired yesterday. */
  issue(names: readonly string[], expired?: 'expired'): Promise<Certificate>;
};

const makeKeys = () => crypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);

const pemOf = async (key: webcrypto.CryptoKey): Promise<string> =>
  x509.PemConverter.encode(await crypto.subtle.exportKey('pkcs8', key), 'PRIVATE KEY');

const isIp = (name: string): boolean => /^[\d.]+$|:/.test(name);

/** Creates an authority. */
export const makeAuthority = async (): Promise<Authority> => {
  const keys = await makeKeys();
  const now = Date.now();
  const root = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: '01',
    name: 'CN=Authority of a test',
    notBefore: new Date(now - 3 * dayMs),
    notAfter: new Date(now + dayMs),
    signingAlgorithm: algorithm,
    keys,
    extensions: [new x509.BasicConstraintsExtension(true, 1, true)],
  });
  let issued = 1;
  return {
    ca: root.toString('pem'),
    async issue(names, expired) {
      issued += 1;
      const own = await makeKeys();
      const cert = await x509.X509CertificateGenerator.create({
        serialNumber: issued.toString(16).padStart(2, '0'),
        subject: 'CN=Receiver of a test',
        issuer: root.subject,
        notBefore: new Date(now - 2 * dayMs),
        notAfter: new Date(now + (expired === undefined ? dayMs : -dayMs)),
        signingAlgorithm: algorithm,
        publicKey: own.publicKey,
        signingKey: keys.privateKey,
        extensions: [
          new x509.SubjectAlternativeNameExtension(
            names.map((value) => ({ type: isIp(value) ? 'ip' : 'dns', value })),
          ),
        ],
      });
      return { key: await pemOf(own.privateKey), cert: cert.toString('pem') };
    },
  };
};
