/**
 * Who is calling. Projects: the key pair by HTTP Basic, or the public key alone as a bearer, which
 * may only read. Hosts: `<host id>.<mac>`, a token that this control plane made, taken only from the address
 * from which its host first reported. The orchestrator: the one pool token. Gateways: the one gateway token. Operators: the
 * admin token, or the pool token where none is set.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import { AppError } from '#domain/error.ts';
import type { Log } from '#runtime/log.ts';
import type { Secret } from '#runtime/secret.ts';
import type { Access } from '#wire/operation.ts';
import { findWhereabouts } from '../db/hosts.ts';
import { findKey, type KeyRow } from '../db/keys.ts';
import type { Queryable } from '../db/pool.ts';
import type {
  AdminCaller,
  Caller,
  GatewayCaller,
  HostCaller,
  PoolCaller,
  ProjectCaller,
} from './endpoint.ts';

/** Finds out who calls, from which address, or throws `unauthenticated` or `forbidden`. */
export type Authenticate = (
  authorization: string | undefined,
  access: Access,
  from: string,
) => Promise<Caller>;

/** A revoked key works at most so much longer. */
const keyTtlMs = 5_000;
const mostKeys = 10_000;
const mostSources = 100_000;

/** What is kept of a secret key. It is 256 random bits, so a plain hash cannot be reversed. */
export const hashSecretKey = (secretKey: string): Buffer =>
  createHash('sha256').update(secretKey).digest();

/** The token with which a host shows that it is this host. */
export const hostToken = (secret: Secret, hostId: string): string =>
  `${hostId}.${secret.derive(`host:${hostId}`)}`;

/** The token that a session's API surface asks for. */
export const sessionToken = (secret: Secret, sessionId: string): string =>
  `st-${secret.derive(`session:${sessionId}`)}`;

type KeyFinder = (publicKey: string) => Promise<KeyRow | undefined>;

/** Looks keys up and remembers them for a moment, so that a request costs no query. */
const createKeyFinder = (db: Queryable): KeyFinder => {
  const known = new Map<string, { key: Promise<KeyRow | undefined>; until: number }>();
  return (publicKey) => {
    const now = performance.now();
    const found = known.get(publicKey);
    if (found !== undefined && found.until > now) return found.key;
    if (known.size >= mostKeys) known.clear();
    const key = findKey(db, publicKey);
    known.set(publicKey, { key, until: now + keyTtlMs });
    const forget = () => known.delete(publicKey);
    // A key that does not exist, or that could not be read, is asked for again the next time.
    key.then((row) => row ?? forget(), forget);
    return key;
  };
};

const refuse = (message: string): AppError => new AppError('unauthenticated', message);

const howTo =
  'send the key pair as "Authorization: Basic <base64(public:secret)>", or on a read the public key as "Bearer"';

const parse = (authorization: string | undefined): { scheme: string; value: string } => {
  const [, scheme, value] = /^(\S+) +(\S+)\s*$/.exec(authorization ?? '') ?? [];
  if (scheme === undefined || value === undefined) throw refuse(`no credentials: ${howTo}`);
  return { scheme: scheme.toLowerCase(), value };
};

const ofProject = (key: KeyRow, level: ProjectCaller['level']): ProjectCaller => {
  if (key.projectId === null) {
    throw refuse("this is an organization's key; routes of a project need a key of the project");
  }
  return { projectId: key.projectId, level };
};

const byKeyPair = async (findOne: KeyFinder, value: string): Promise<ProjectCaller> => {
  const text = Buffer.from(value, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  const publicKey = text.slice(0, Math.max(colon, 0));
  const key = publicKey === '' ? undefined : await findOne(publicKey);
  const given = hashSecretKey(text.slice(colon + 1));
  if (key === undefined || !timingSafeEqual(given, key.secretHash)) {
    throw refuse('the key pair is not valid');
  }
  return ofProject(key, 'secret');
};

const byPublicKey = async (findOne: KeyFinder, publicKey: string): Promise<ProjectCaller> => {
  const key = await findOne(publicKey);
  if (key === undefined) throw refuse('the public key is not valid');
  return ofProject(key, 'public');
};

const byHostToken = (secret: Secret, token: string): string => {
  const hostId = token.slice(0, Math.max(token.indexOf('.'), 0));
  const expected = hostToken(secret, hostId);
  const given = createHash('sha256').update(token).digest();
  if (!timingSafeEqual(given, createHash('sha256').update(expected).digest())) {
    throw refuse('the host token is not valid');
  }
  return hostId;
};

type SourceFinder = (hostId: string) => Promise<string | null | undefined>;

/**
 * Looks up from where a host speaks, once: that never changes. Null: from anywhere, as it reported to the
 * release before; undefined: it has not reported yet.
 */
const createSourceFinder = (db: Queryable): SourceFinder => {
  const known = new Map<string, string | null>();
  return async (hostId) => {
    const kept = known.get(hostId);
    if (kept !== undefined) return kept;
    const found = await findWhereabouts(db, hostId);
    if (found === undefined || (found.source === null && found.state === 'starting')) {
      return undefined;
    }
    if (known.size >= mostSources) known.clear();
    known.set(hostId, found.source);
    return found.source;
  };
};

type HostCheck = (token: string, from: string) => Promise<HostCaller>;

const createHostCheck = ({ secret, pinHosts }: Tokens, db: Queryable, log: Log): HostCheck => {
  const findSource = createSourceFinder(db);
  return async (token, from) => {
    const hostId = byHostToken(secret, token);
    const source = pinHosts ? await findSource(hostId) : undefined;
    if (source == null || source === from) return { hostId, source: from };
    log.warn({ hostId, from, source }, "a host's token is used from another address");
    throw new AppError(
      'forbidden',
      `the token of ${hostId} is not taken from ${from}: the host speaks from another address`,
    );
  };
};

const byPoolToken = (poolToken: Secret, token: string): PoolCaller => {
  if (!poolToken.matches(token)) throw refuse('the pool token is not valid');
  return { pool: true };
};

const byGatewayToken = (gateway: { token: Secret } | null, token: string): GatewayCaller => {
  if (gateway?.token.matches(token) !== true) throw refuse('the gateway token is not valid');
  return { gateway: true };
};

const byAdminToken = ({ adminToken, poolToken }: Tokens, token: string): AdminCaller => {
  if (!(adminToken ?? poolToken).matches(token)) throw refuse('the admin token is not valid');
  return { admin: true };
};

type Tokens = {
  secret: Secret;
  pinHosts: boolean;
  poolToken: Secret;
  adminToken: Secret | null;
  gateway: { token: Secret } | null;
};

/** Whom each bearer of a program is checked by. */
const programs = {
  pool: ({ poolToken }: Tokens, token: string) => byPoolToken(poolToken, token),
  gateway: ({ gateway }: Tokens, token: string) => byGatewayToken(gateway, token),
  admin: byAdminToken,
};

/** Makes the check for all access levels. */
export const createAuthenticate = (config: Tokens, db: Queryable, log: Log): Authenticate => {
  const findOne = createKeyFinder(db);
  const checkHost = createHostCheck(config, db, log);
  return async (authorization, access, from) => {
    const { scheme, value } = parse(authorization);
    if (access !== 'read' && access !== 'write') {
      if (scheme !== 'bearer') throw refuse('this route asks for a bearer token');
      return access === 'host' ? checkHost(value, from) : programs[access](config, value);
    }
    if (scheme === 'basic') return byKeyPair(findOne, value);
    if (scheme !== 'bearer') throw refuse(`unknown scheme "${scheme}": ${howTo}`);
    const caller = await byPublicKey(findOne, value);
    if (access === 'write') {
      throw new AppError('forbidden', 'a public key may only read; this route needs the key pair');
    }
    return caller;
  };
};
