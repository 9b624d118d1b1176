/**
 * Credentials for a vendor. The connector names environment variables. Their values are read here, sent where the
 * vendor expects them, and registered as secrets, which are removed from all texts.
 */
import { AppError } from '#domain/error.ts';
import type { VendorContract } from '#language/contract.ts';
import type { Secrets } from '../redact/secrets.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** Headers and query parameters that carry a credential. */
export type Admission = { headers: Record<string, string>; query: Record<string, string> };

export type OAuthClient = {
  tokenUrl: string;
  clientId: string;
  clientSecret: string;
  scope: string | null;
};

export type Credentials = Admission & {
  /** Client of the vendor's token endpoint; null unless a token has to be fetched first. */
  oauth: OAuthClient | null;
  /** Variables that hold the credential, for messages when the vendor refuses it. */
  variables: string[];
};

const isHeaderText = (text: string): boolean => /^[\x20-\x7e\x80-\xff]*$/.test(text);

const basic = (pair: string): string => {
  const whole = pair.includes(':') ? pair : `${pair}:`;
  return `Basic ${Buffer.from(whole).toString('base64')}`;
};

/**
 * Reads the credentials. Throws `invalid` with the names of all variables that are missing, or whose values contain
 * characters that a request cannot contain.
 */
export const readCredentials = (
  { auth }: Pick<VendorContract, 'auth'>,
  env: Environment,
  secrets: Secrets,
): Credentials => {
  const variables = [
    ...(auth.scheme === 'none' ? [] : [auth.secretEnv, auth.clientIdEnv]),
    ...Object.values(auth.headers),
  ].filter((name): name is string => name !== null);
  const problems = variables.flatMap((name) => {
    const value = env[name] ?? '';
    if (value === '') return [`${name} is not set`];
    return isHeaderText(value) ? [] : [`${name} contains characters that a request cannot contain`];
  });
  if (problems.length > 0) {
    throw new AppError(
      'invalid',
      `the credential of the vendor is missing: ${problems.join(', ')}`,
      {
        detail: { hint: 'set the variables that [auth] of connector.toml names' },
      },
    );
  }
  const held = (name: string | null): string => (name === null ? '' : (env[name] ?? ''));
  const secret = held(auth.secretEnv);
  for (const name of variables) if (name !== auth.clientIdEnv) secrets.add(held(name));
  const headers = Object.fromEntries(
    Object.entries(auth.headers).map(([header, name]) => [header, held(name)]),
  );
  const credentials: Credentials = { headers, query: {}, oauth: null, variables };
  if (auth.scheme === 'bearer') headers.authorization = `Bearer ${secret}`;
  else if (auth.scheme === 'basic') {
    headers.authorization = basic(secret);
    secrets.add(headers.authorization.slice('Basic '.length));
    secrets.add(secret.slice(secret.indexOf(':') + 1));
  } else if (auth.scheme === 'header') headers[auth.name ?? 'authorization'] = secret;
  else if (auth.scheme === 'query') credentials.query[auth.name ?? 'key'] = secret;
  else if (auth.scheme === 'oauth2') {
    const { tokenUrl, clientIdEnv, scope } = auth;
    if (tokenUrl === null) throw new Error('oauth2 without a token_url');
    const clientId = held(clientIdEnv);
    credentials.oauth = { tokenUrl, clientId, clientSecret: secret, scope };
  }
  return credentials;
};
