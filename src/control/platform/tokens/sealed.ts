/**
 * Encryption of users' secrets that the service itself must use later, such as the keys of users' buckets. They are
 * encrypted with the secret of the installation, so that neither the database nor a backup reveals them.
 */
import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';
import type { Secret } from '#runtime/secret.ts';

const form = 'aes-256-gcm';
const ivBytes = 12;
const tagBytes = 16;

const keyOf = (secret: Secret, purpose: string): Buffer =>
  createHash('sha256')
    .update(secret.derive(`seal:${purpose}`))
    .digest();

/** Encrypts a text for a purpose. It can be decrypted only for the same purpose. */
export const seal = (secret: Secret, purpose: string, text: string): string => {
  const iv = randomBytes(ivBytes);
  const cipher = createCipheriv(form, keyOf(secret, purpose), iv);
  const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return Buffer.concat([iv, cipher.getAuthTag(), sealed]).toString('base64url');
};

const openBy = (secret: Secret, purpose: string, bytes: Buffer): string | undefined => {
  try {
    const decipher = createDecipheriv(form, keyOf(secret, purpose), bytes.subarray(0, ivBytes));
    decipher.setAuthTag(bytes.subarray(ivBytes, ivBytes + tagBytes));
    const rest = bytes.subarray(ivBytes + tagBytes);
    return Buffer.concat([decipher.update(rest), decipher.final()]).toString('utf8');
  } catch {
    // Encrypted with another value of the secret or for another purpose: only a failed decryption shows it.
    return undefined;
  }
};

/** Decrypts a text. Returns undefined if no configured value of the secret can decrypt it. */
export const unseal = (secret: Secret, purpose: string, sealed: string): string | undefined => {
  const bytes = Buffer.from(sealed, 'base64url');
  for (const one of secret.each()) {
    const text = openBy(one, purpose, bytes);
    if (text !== undefined) return text;
  }
  return undefined;
};
