/** An authority that a process is told to trust besides those that Node trusts by itself. */
import { readFileSync } from 'node:fs';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { AppError } from '#domain/error.ts';

/** Everything in this process that speaks TLS trusts the certificate, in PEM, from its next connection on. */
export const trustAuthority = (pem: string): void => {
  const known = getCACertificates('default');
  if (!known.includes(pem)) setDefaultCACertificates([...known, pem]);
};

/** The same with that of a file. Throws `unavailable`, naming it, when it cannot be read. */
export const trustAuthorityFile = (file: string): void => {
  let pem: string;
  try {
    pem = readFileSync(file, 'utf8');
  } catch (cause) {
    throw new AppError('unavailable', `cannot read the authority's certificate ${file}`, {
      cause,
      detail: { hint: 'start the service anew with "svc up --tls"' },
    });
  }
  trustAuthority(pem);
};
