/** Adds a certificate authority to those that Node trusts by default. */
import { readFileSync } from 'node:fs';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { AppError } from '#domain/error.ts';

/** Makes all TLS connections of this process trust the certificate (PEM), beginning with the next connection. */
export const trustAuthority = (pem: string): void => {
  const known = getCACertificates('default');
  if (!known.includes(pem)) setDefaultCACertificates([...known, pem]);
};

/**
 * Makes all TLS connections of this process trust the certificate in a file. Throws `unavailable`, naming the file, if
 * the file cannot be read.
 */
export const trustAuthorityFile = (file: string): void => {
  let pem: string;
  try {
    pem = readFileSync(file, 'utf8');
  } catch (cause) {
    throw new AppError('unavailable', `cannot read the authority's certificate ${file}`, {
      cause,
      detail: { hint: 'restart the service with "svc up --tls"' },
    });
  }
  trustAuthority(pem);
};
