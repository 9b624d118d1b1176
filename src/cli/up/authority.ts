/**
 * Certificate authority of one data folder: created once, stored, and renewed long before it expires. Its certificate
 * is limited to this machine's own names (`localhost`, names below it, 127.0.0.1 and ::1), and clients enforce that.
 * With a stolen key, an attacker cannot impersonate any other name.
 *
 * A renewed authority keeps its key and name, so clients that trust the previous certificate accept it until that
 * expires.
 */
import 'reflect-metadata';
import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  type webcrypto,
  X509Certificate,
} from 'node:crypto';
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { getCACertificates } from 'node:tls';
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  Extension,
  KeyUsageFlags,
  KeyUsagesExtension,
  SubjectAlternativeNameExtension,
  SubjectKeyIdentifierExtension,
  X509CertificateGenerator,
} from '@peculiar/x509';
import { AppError } from '#domain/error.ts';
import { cannotWrite } from './folder.ts';

/** Certificate and its key, as PEM. The certificate is followed by that of the authority. */
export type Certificate = { cert: string; key: string };

export type Authority = {
  /**
   * Paths of two files: the authority's certificate alone; and that certificate together with those of all authorities
   * that this machine trusts anyway.
   */
  caFile: string;
  bundleFile: string;
  /** Certificate of the authority. */
  pem: string;
  /** Expiry of the authority's current certificate. */
  until: Date;
  /**
   * True if the authority was just renewed: clients that have the previous certificate need the new one before the
   * previous one expires.
   */
  wasRenewed: boolean;
  /** Issues a certificate for names and addresses of this machine, valid for 30 days. */
  issue(names: readonly string[]): Promise<Certificate>;
};

const dayMs = 86_400_000;
const years = 2;
const lifeMs = years * 365 * dayMs;
/** Remaining validity below which the authority is renewed, in milliseconds. */
export const renewBelowMs = 180 * dayMs;
const leafMs = 30 * dayMs;
/**
 * Time by which a certificate's validity is backdated, in milliseconds, because clocks of clients in containers may be
 * behind.
 */
const earlierMs = dayMs;

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;

type Keys = { publicKey: webcrypto.CryptoKey; privateKey: webcrypto.CryptoKey; pem: string };

const keysOf = (key: KeyObject): Keys => ({
  publicKey: createPublicKey(key).toCryptoKey(algorithm, true, ['verify']),
  privateKey: key.toCryptoKey(algorithm, true, ['sign']),
  pem: key.export({ type: 'pkcs8', format: 'pem' }).toString(),
});

const newKey = (): KeyObject => generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;

/** Returns a serial number of at most 20 octets that is not negative (RFC 5280, 4.1.2.2). */
const newSerial = (): string => `00${randomBytes(16).toString('hex')}`.replace(/^00/, '4a');

/** Encodes an ASN.1 value that is shorter than 128 octets. */
const tagged = (tag: number, ...parts: Buffer[]): Buffer => {
  const value = Buffer.concat(parts);
  return Buffer.concat([Buffer.from([tag, value.length]), value]);
};

const allOnes = (bytes: number): Buffer => Buffer.alloc(bytes, 0xff);

/**
 * Returns the name constraints of the authority (RFC 5280, 4.2.1.10). A name in them includes all names below it; an
 * address is followed by its mask.
 */
const nameConstraints = (): Extension => {
  const name = Buffer.from('localhost', 'ascii');
  const ip4 = Buffer.concat([Buffer.from([127, 0, 0, 1]), allOnes(4)]);
  const ip6 = Buffer.concat([Buffer.alloc(15), Buffer.from([1]), allOnes(16)]);
  const subtrees = [tagged(0x82, name), tagged(0x87, ip4), tagged(0x87, ip6)];
  const permitted = tagged(0xa0, ...subtrees.map((base) => tagged(0x30, base)));
  return new Extension('2.5.29.30', true, tagged(0x30, permitted));
};

const servers = (): Extension => new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth]);

const signItself = async (keys: Keys, name: string, now: number): Promise<string> => {
  const certificate = await X509CertificateGenerator.createSelfSigned({
    serialNumber: newSerial(),
    name,
    notBefore: new Date(now - earlierMs),
    notAfter: new Date(now + lifeMs),
    signingAlgorithm: algorithm,
    keys,
    extensions: [
      new BasicConstraintsExtension(true, 0, true),
      new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
      servers(),
      await SubjectKeyIdentifierExtension.create(keys.publicKey),
      nameConstraints(),
    ],
  });
  return `${certificate.toString('pem')}\n`;
};

/** Writes a file completely or not at all. */
const writeWhole = (file: string, text: string, mode: number): void => {
  const draft = `${file}.new`;
  try {
    writeFileSync(draft, text, { mode });
    renameSync(draft, file);
  } catch (cause) {
    throw cannotWrite(file, cause);
  } finally {
    rmSync(draft, { force: true });
  }
};

const unreadable = (file: string, cause: unknown): AppError =>
  new AppError('conflict', `${file} is not a readable key of an authority`, {
    cause,
    detail: { hint: 'remove it: the next svc up creates a new one, which clients must then trust' },
  });

const readKey = (file: string): KeyObject => {
  if (!existsSync(file)) {
    const key = newKey();
    writeWhole(file, keysOf(key).pem, 0o600);
    return key;
  }
  try {
    const key = createPrivateKey(readFileSync(file));
    if (key.asymmetricKeyDetails?.namedCurve === 'prime256v1') return key;
  } catch (cause) {
    throw unreadable(file, cause);
  }
  throw unreadable(file, new Error('it is not a key of the curve P-256'));
};

/** Reads a certificate; undefined if the file is unreadable or its certificate belongs to another key. */
const readCertificate = (file: string, key: KeyObject): X509Certificate | undefined => {
  try {
    const certificate = new X509Certificate(readFileSync(file));
    return certificate.checkPrivateKey(key) ? certificate : undefined;
  } catch {
    return undefined; // the caller creates a new one
  }
};

const endOf = (certificate: X509Certificate): number => Date.parse(certificate.validTo);

/** Returns the authorities that this machine trusts anyway: Node's list and the system's. */
const trustedHere = (): string[] => {
  const all = [...getCACertificates('default'), ...getCACertificates('system')];
  return [...new Set(all.map((pem) => pem.trim()))];
};

type Kept = { keys: Keys; pem: string; certificate: X509Certificate; wasRenewed: boolean };

const keep = async (folder: string, installation: string, now: number): Promise<Kept> => {
  const key = readKey(join(folder, 'authority.key'));
  const keys = keysOf(key);
  const file = join(folder, 'ca.pem');
  const known = readCertificate(file, key);
  if (known !== undefined && endOf(known) - now > renewBelowMs) {
    return { keys, pem: `${known.toString()}`, certificate: known, wasRenewed: false };
  }
  const pem = await signItself(keys, `CN=svc up ${installation}, O=svc local authority`, now);
  writeWhole(file, pem, 0o644);
  return { keys, pem, certificate: new X509Certificate(pem), wasRenewed: known !== undefined };
};

const sanOf = (name: string) => ({
  type: /^[\d.]+$|:/.test(name) ? ('ip' as const) : ('dns' as const),
  value: name,
});

const issue = async (kept: Kept, own: Keys, names: readonly string[], now: number) => {
  const certificate = await X509CertificateGenerator.create({
    serialNumber: newSerial(),
    // Common names have 64 characters at most; clients check the names in the extension.
    subject: 'CN=svc up',
    issuer: kept.certificate.subject.split('\n').join(', '),
    notBefore: new Date(now - earlierMs),
    notAfter: new Date(Math.min(now + leafMs, endOf(kept.certificate))),
    signingAlgorithm: algorithm,
    publicKey: own.publicKey,
    signingKey: kept.keys.privateKey,
    extensions: [
      new BasicConstraintsExtension(false, undefined, true),
      new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
      servers(),
      await SubjectKeyIdentifierExtension.create(own.publicKey),
      await AuthorityKeyIdentifierExtension.create(kept.keys.publicKey),
      new SubjectAlternativeNameExtension(names.map(sanOf)),
    ],
  });
  // The authority's certificate follows, so that a browser that trusts the authority's key can build the chain.
  return { cert: `${certificate.toString('pem')}\n${kept.pem}`, key: own.pem };
};

/**
 * Opens the authority of an existing folder. Uses the files that exist, and creates those that are missing. Throws
 * `conflict` for a key that cannot be read, `unavailable` for a file that cannot be written.
 *
 * @param installation - Distinguishes the authorities of several folders in a browser's list.
 */
export const openAuthority = async (
  folder: string,
  installation: string,
  now: () => number = Date.now,
): Promise<Authority> => {
  let kept = await keep(folder, installation, now());
  const bundleFile = join(folder, 'ca-bundle.pem');
  writeWhole(bundleFile, `${[...trustedHere(), kept.pem].join('\n')}\n`, 0o644);
  const own = keysOf(newKey());
  return {
    caFile: join(folder, 'ca.pem'),
    bundleFile,
    pem: kept.pem,
    until: new Date(endOf(kept.certificate)),
    wasRenewed: kept.wasRenewed,
    async issue(names) {
      const isDue = endOf(kept.certificate) - now() <= renewBelowMs;
      if (isDue) kept = await keep(folder, installation, now());
      return issue(kept, own, names, now());
    },
  };
};
