/**
 * Finds the service and the credentials of a command: the variables SVC_URL, SVC_PUBLIC_KEY and SVC_SECRET_KEY, or else
 * the credentials file in the data folder of `svc up`.
 * Variables and file are never combined, so that a local key is not sent to another address.
 */

import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { AppError } from '#domain/error.ts';
import { withoutByteOrderMark } from '#domain/json.ts';
import type { Env } from '#runtime/env.ts';
import { Secret } from '#runtime/secret.ts';

export const credentialsName = 'credentials.json';
export const defaultDataFolder = '.svc';
const defaultUrl = 'http://127.0.0.1:4500';
const defaultAdminUrl = 'http://127.0.0.1:4502';

export type Connection = {
  /** Base address of the service, without `/api/public`. */
  url: string;
  publicKey: string;
  /** Secret key; absent: the client can only read. */
  secretKey: Secret | undefined;
  /** Description of where the keys were read, for messages. */
  source: string;
  /** Description of where the address was read, for messages. Absent: the address is the default. */
  urlSource: string | undefined;
  /** File of the authority that issued the certificate of `svc up --tls`. */
  caFile?: string | undefined;
};

/**
 * Places that are searched for a connection: the environment, the working folder, and the data folder that an option
 * names.
 */
export type Lookup = { env: Env; cwd: string; data?: string | undefined };

/** Contents of `credentials.json`; `organization` is the key pair of the organization. */
export type Credentials = {
  url: string;
  publicKey: string;
  secretKey: string;
  organization?: { publicKey: string; secretKey: string };
  /** File of the certificate of the authority of `svc up --tls`. */
  caFile?: string;
};

const fromEnv = (env: Env): Connection | undefined => {
  const [url, publicKey, secretKey] = ['SVC_URL', 'SVC_PUBLIC_KEY', 'SVC_SECRET_KEY'].map(
    (name) => env[name]?.trim() || undefined,
  );
  if (publicKey === undefined) {
    if (url === undefined && secretKey === undefined) return undefined;
    const given = url === undefined ? 'SVC_SECRET_KEY' : 'SVC_URL';
    throw new AppError('invalid', `${given} is set, but SVC_PUBLIC_KEY is not`);
  }
  if (url !== undefined && !URL.canParse(url)) {
    throw new AppError('invalid', `SVC_URL is "${url}", not a URL`);
  }
  return {
    url: (url ?? defaultUrl).replace(/\/+$/, ''),
    publicKey,
    secretKey: secretKey === undefined ? undefined : new Secret(secretKey),
    source: 'SVC_PUBLIC_KEY',
    urlSource: url && 'SVC_URL',
  };
};

/** Returns what a user has to do so that commands find the credentials in this data folder. */
export const wayToCredentials = (dataFolder: string): string =>
  basename(dataFolder) === defaultDataFolder
    ? 'svc finds them by itself, there and below'
    : 'svc finds them with --data or SVC_DATA';

const foldersAbove = (folder: string): string[] => {
  const above = dirname(folder);
  return above === folder ? [folder] : [folder, ...foldersAbove(above)];
};

/**
 * Finds the credentials file in the named data folder. If none is named, searches the nearest `.svc` folder, here or
 * above.
 */
const findCredentials = ({ env, cwd, data }: Lookup, variables: string): string => {
  const named = data ?? (env.SVC_DATA?.trim() || undefined);
  const files =
    named === undefined
      ? foldersAbove(cwd).map((folder) => join(folder, defaultDataFolder, credentialsName))
      : [join(resolve(cwd, named), credentialsName)];
  const found = files.find((file) => existsSync(file));
  if (found !== undefined) return found;
  const looked = named === undefined ? `no .svc folder in ${cwd} or above` : `no ${files[0]}`;
  throw new AppError('unauthenticated', `no credentials: ${looked}`, {
    detail: {
      hint: `start a service with "svc up", or set ${variables}`,
    },
  });
};

const readCredentials = (file: string): Connection => {
  let parsed: Partial<Credentials>;
  try {
    parsed = JSON.parse(withoutByteOrderMark(readFileSync(file, 'utf8'))) as Partial<Credentials>;
  } catch (cause) {
    throw new AppError('unauthenticated', `cannot read ${file}`, { cause });
  }
  const { url, publicKey, secretKey, caFile } = parsed;
  if (typeof url !== 'string' || typeof publicKey !== 'string' || typeof secretKey !== 'string') {
    throw new AppError('unauthenticated', `${file} lacks url, publicKey or secretKey`);
  }
  return {
    ...{ url, publicKey, secretKey: new Secret(secretKey) },
    ...{ source: file, urlSource: file },
    ...(typeof caFile === 'string' ? { caFile } : {}),
  };
};

/** Connection for account management: the `Authorization` header, and the name of its key in messages. */
export type AccountConnection = Pick<Connection, 'url' | 'source' | 'urlSource' | 'caFile'> & {
  authorization: Secret;
  key: string;
};

const readUrl = (env: Env): Pick<Connection, 'url' | 'urlSource'> => {
  const url = env.SVC_URL?.trim() || undefined;
  if (url !== undefined && !URL.canParse(url)) {
    throw new AppError('invalid', `SVC_URL is "${url}", not a URL`);
  }
  return { url: (url ?? defaultUrl).replace(/\/+$/, ''), urlSource: url && 'SVC_URL' };
};

const basicOf = (publicKey: string, secretKey: string): Secret =>
  new Secret(`Basic ${Buffer.from(`${publicKey}:${secretKey}`).toString('base64')}`);

const accountFromEnv = (env: Env): AccountConnection | undefined => {
  const token = env.SVC_API_TOKEN?.trim() || undefined;
  if (token !== undefined) {
    const authorization = new Secret(`Bearer ${token}`);
    return { ...readUrl(env), authorization, key: 'token', source: 'SVC_API_TOKEN' };
  }
  const publicKey = env.SVC_ORGANIZATION_PUBLIC_KEY?.trim() || undefined;
  const secretKey = env.SVC_ORGANIZATION_SECRET_KEY?.trim() || undefined;
  if (publicKey === undefined && secretKey === undefined) return undefined;
  if (publicKey === undefined || secretKey === undefined) {
    const message = 'SVC_ORGANIZATION_PUBLIC_KEY and SVC_ORGANIZATION_SECRET_KEY go together';
    throw new AppError('invalid', message);
  }
  const source = 'SVC_ORGANIZATION_PUBLIC_KEY';
  return {
    ...readUrl(env),
    authorization: basicOf(publicKey, secretKey),
    key: organizationKey,
    source,
  };
};

const organizationKey = "organization's key pair";
const accountVariables =
  'SVC_URL with SVC_API_TOKEN, or with SVC_ORGANIZATION_PUBLIC_KEY and SVC_ORGANIZATION_SECRET_KEY';

const readOrganization = (file: string): AccountConnection => {
  const { url, caFile } = readCredentials(file);
  const { organization } = JSON.parse(
    withoutByteOrderMark(readFileSync(file, 'utf8')),
  ) as Partial<Credentials>;
  const { publicKey, secretKey } = organization ?? {};
  if (typeof publicKey !== 'string' || typeof secretKey !== 'string') {
    throw new AppError('unauthenticated', `${file} has no key pair of the organization`, {
      detail: { hint: `restart the service with "svc up", or set ${accountVariables}` },
    });
  }
  const authorization = basicOf(publicKey, secretKey);
  return { url, caFile, urlSource: file, authorization, key: organizationKey, source: file };
};

/**
 * Reads the credentials for account management: SVC_API_TOKEN; or else the key pair of an organization in
 * SVC_ORGANIZATION_PUBLIC_KEY and SVC_ORGANIZATION_SECRET_KEY; or else the key pair in the credentials file. Throws
 * `invalid` or `unauthenticated`.
 */
export const readAccountConnection = (lookup: Lookup): AccountConnection => {
  const fromVariables = lookup.data === undefined ? accountFromEnv(lookup.env) : undefined;
  if (fromVariables !== undefined) return fromVariables;
  if (lookup.data === undefined && lookup.env.SVC_URL?.trim()) {
    throw new AppError(
      'unauthenticated',
      'SVC_URL is set, but no credentials for managing accounts are',
      {
        detail: { hint: `set ${accountVariables}` },
      },
    );
  }
  return readOrganization(findCredentials(lookup, accountVariables));
};

/** Connection of an operator: the address, and the admin token or, without one, the pool token. */
export type OperatorConnection = Pick<Connection, 'url' | 'source' | 'urlSource'> & {
  token: Secret;
};

/** File in the data folder of `svc up` with its secrets. */
export const secretsName = 'secrets.json';

/** Reads the operator's access that `svc up` stores: its pool token, and the port of its internal APIs. */
const readOwn = (file: string): { url: string; token: Secret } => {
  let parsed: { poolToken?: unknown; internalPort?: unknown };
  try {
    parsed = JSON.parse(withoutByteOrderMark(readFileSync(file, 'utf8'))) as typeof parsed;
  } catch (cause) {
    throw new AppError('unauthenticated', `cannot read ${file}`, { cause });
  }
  const { poolToken, internalPort } = parsed;
  if (typeof poolToken !== 'string' || typeof internalPort !== 'number') {
    const hint = 'restart the service with "svc up"';
    throw new AppError('unauthenticated', `${file} lacks poolToken or internalPort`, {
      detail: { hint },
    });
  }
  return { url: `http://127.0.0.1:${internalPort}`, token: new Secret(poolToken) };
};

/** Reads the address of the internal APIs, which differs from the public one. */
const readAdminUrl = ({ env }: Lookup): Pick<OperatorConnection, 'url' | 'urlSource'> => {
  const given = env.SVC_ADMIN_URL?.trim() || undefined;
  if (given === undefined && env.SVC_URL?.trim()) {
    throw new AppError('invalid', 'SVC_URL is set, but SVC_ADMIN_URL is not', {
      detail: {
        hint: "it must be the control plane's internal address (SVC_INTERNAL_LISTEN)",
      },
    });
  }
  const url = (given ?? defaultAdminUrl).replace(/\/+$/, '');
  if (!URL.canParse(url)) throw new AppError('invalid', `SVC_ADMIN_URL is "${url}", not a URL`);
  return { url, urlSource: given && 'SVC_ADMIN_URL' };
};

/**
 * Reads an operator's connection: the variables SVC_ADMIN_URL and SVC_ADMIN_TOKEN or SVC_POOL_TOKEN; or else the
 * secrets of `svc up` in its data folder. Throws `invalid` or `unauthenticated` with a hint.
 */
export const readOperatorConnection = (lookup: Lookup): OperatorConnection => {
  const source = ['SVC_ADMIN_TOKEN', 'SVC_POOL_TOKEN'].find((name) => lookup.env[name]?.trim());
  // While a token is being replaced the variable has several values, the current one first.
  const [token] = source === undefined ? [] : (lookup.env[source]?.trim().split(/\s+/) ?? []);
  if (lookup.data === undefined && source !== undefined && token) {
    return { ...readAdminUrl(lookup), token: new Secret(token), source };
  }
  const found = findCredentials(lookup, 'SVC_ADMIN_URL and SVC_ADMIN_TOKEN');
  const file = join(dirname(found), secretsName);
  return { ...readOwn(file), source: file, urlSource: file };
};

/** Reads the connection of a command. Throws `invalid` or `unauthenticated` with a hint if there is none. */
export const readConnection = (lookup: Lookup): Connection =>
  (lookup.data === undefined ? fromEnv(lookup.env) : undefined) ??
  readCredentials(findCredentials(lookup, 'SVC_URL, SVC_PUBLIC_KEY, SVC_SECRET_KEY'));
