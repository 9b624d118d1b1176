/**
 * Authenticates callers by their credentials; `clients.ts` does so for clients of the public API.
 * - Hosts send `<host id>.<mac>`, a token that this control plane derived. The token is accepted only from the address
 * that sent the host's first report. The host requests a second token with that report. The launch token is then
 * refused before the host gets a session.
 * - All orchestrators send the same pool token, all gateways the gateway token, and all senders of webhooks the sender
 * token.
 * - Operators send the admin token, or the pool token if no admin token is set.
 */

import { createHash, hash, timingSafeEqual } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { AppError } from '#domain/error.ts';
import type { Log } from '#runtime/log.ts';
import type { Secret } from '#runtime/secret.ts';
import { isPublicAccess } from '#wire/access.ts';
import type { Access } from '#wire/operation.ts';
import type { Queryable } from '../../db/core/database.ts';
import { findWhereabouts, noteRenewed } from '../../db/sessions/hosts.ts';
import type { SecretsInUse } from '../../platform/tokens/secrets-in-use.ts';
import { hostToken, workingToken } from '../../platform/tokens/tokens.ts';
import { createFindClient, howToCall, type NamedProject } from './clients.ts';
import type {
  AdminCaller,
  Caller,
  GatewayCaller,
  HostCaller,
  PoolCaller,
  SenderCaller,
} from './endpoint.ts';
import { createGatewayPresence } from './gateway-presence.ts';
import { createSessionTokenCheck, isSessionToken } from './session-tokens.ts';

/** Authenticates a caller that connects from the address `from`. Throws `unauthenticated` or `forbidden`. */
export type Authenticate = (
  authorization: string | undefined,
  access: Access,
  from: string,
  named: { project: NamedProject; session: string | undefined },
) => Promise<Caller>;

const mostSettled = 100_000;

const unauthenticated = (message: string): AppError => new AppError('unauthenticated', message);

const parse = (authorization: string | undefined): { scheme: string; value: string } => {
  const [, scheme, value] = /^(\S+) +(\S+)\s*$/.exec(authorization ?? '') ?? [];
  if (scheme === undefined || value === undefined)
    throw unauthenticated(`no credentials: ${howToCall}`);
  return { scheme: scheme.toLowerCase(), value };
};

/** Host that a token belongs to; `isFirst` is true for the token that the host was launched with. */
type HostToken = { hostId: string; isFirst: boolean };

const byHostToken = (secret: Secret, token: string): HostToken => {
  const hostId = token.slice(0, Math.max(token.indexOf('.'), 0));
  const given = createHash('sha256').update(token).digest();
  const is = (make: typeof hostToken): boolean =>
    secret
      .each()
      .some((one) =>
        timingSafeEqual(given, createHash('sha256').update(make(one, hostId)).digest()),
      );
  if (is(workingToken)) return { hostId, isFirst: false };
  if (!is(hostToken)) throw unauthenticated('the host token is not valid');
  return { hostId, isFirst: true };
};

/**
 * Caches valid tokens by their hashes: a host sends its token with each call, and a lookup is faster than deriving it
 * again.
 */
const createHostTokenReader = (secret: Secret): ((token: string) => HostToken) => {
  const known = new LRUCache<string, HostToken>({ max: mostSettled });
  return (token) => {
    const digest = hash('sha256', token, 'base64url');
    const found = known.get(digest);
    if (found !== undefined) return found;
    const read = byHostToken(secret, token);
    known.set(digest, read);
    return read;
  };
};

/**
 * Facts for checking a host's token, cached once they are final: the host's pinned address, and whether the launch
 * token is still accepted.
 */
type HostTokenState = { source: string | null; acceptsFirst: boolean };

/** Creates the lookup of a host's pinned address and token state. It caches both once they can no longer change. */
const createTokenStateFinder = (db: Queryable) => {
  const settled = new LRUCache<string, HostTokenState>({ max: mostSettled });
  const look = async (hostId: string, isFirst: boolean): Promise<HostTokenState> => {
    const found = await findWhereabouts(db, hostId);
    if (found === undefined) return { source: null, acceptsFirst: true };
    const { source, state, renews, renewed } = found;
    if (!isFirst && !renewed) await noteRenewed(db, hostId);
    const tokenState = { source, acceptsFirst: isFirst && !renewed };
    if (state === 'starting' || (renews && tokenState.acceptsFirst)) return tokenState;
    settled.set(hostId, tokenState);
    return tokenState;
  };
  return async (hostId: string, isFirst: boolean): Promise<HostTokenState> =>
    settled.get(hostId) ?? look(hostId, isFirst);
};

type HostCheck = (token: string, from: string) => Promise<HostCaller>;

const createHostCheck = ({ secret, pinHosts }: Tokens, db: Queryable, log: Log): HostCheck => {
  const findTokenState = createTokenStateFinder(db);
  const readToken = createHostTokenReader(secret);
  return async (token, from) => {
    const { hostId, isFirst } = readToken(token);
    const { source, acceptsFirst } = await findTokenState(hostId, isFirst);
    if (isFirst && !acceptsFirst) {
      log.warn({ hostId, from }, 'the token of a launch is used after its time');
      throw unauthenticated(`the token that ${hostId} was launched with is not valid any more`);
    }
    if (!pinHosts || source === null || source === from) return { hostId, source: from, isFirst };
    log.warn({ hostId, from, source }, "a host's token is used from another address");
    throw new AppError(
      'forbidden',
      `the token of ${hostId} is not accepted from ${from}: the host uses another address`,
    );
  };
};

const byPoolToken = (poolToken: Secret, token: string): PoolCaller => {
  if (!poolToken.matches(token)) throw unauthenticated('the pool token is not valid');
  return { pool: true };
};

const byGatewayToken = (gateway: { token: Secret } | null, token: string): GatewayCaller => {
  if (gateway?.token.matches(token) !== true)
    throw unauthenticated('the gateway token is not valid');
  return { gateway: true };
};

const bySenderToken = ({ senderToken }: Tokens, token: string): SenderCaller => {
  if (senderToken?.matches(token) !== true) throw unauthenticated('the sender token is not valid');
  return { sender: true };
};

const byAdminToken = ({ adminToken, poolToken }: Tokens, token: string): AdminCaller => {
  if (!(adminToken ?? poolToken).matches(token))
    throw unauthenticated('the admin token is not valid');
  return { admin: true };
};

type Tokens = {
  secret: Secret;
  pinHosts: boolean;
  poolToken: Secret;
  adminToken: Secret | null;
  senderToken: Secret | null;
  gateway: { token: Secret } | null;
};

/** Checks of the bearer tokens of programs and operators, by access level. */
const programs = {
  pool: ({ poolToken }: Tokens, token: string) => byPoolToken(poolToken, token),
  gateway: ({ gateway }: Tokens, token: string) => byGatewayToken(gateway, token),
  sender: bySenderToken,
  admin: byAdminToken,
};

type ProgramAccess = keyof typeof programs;

/**
 * Creates the check of a program's bearer token. It records the addresses of accepted and refused gateways, which the
 * doctor reports (`operations/doctor/gateways.ts`).
 */
const createProgramCheck = (config: Tokens, db: Queryable, log: Log) => {
  const noteGateway = createGatewayPresence(db, log);
  return (access: ProgramAccess, token: string, from: string): Caller => {
    if (access !== 'gateway') return programs[access](config, token);
    try {
      const caller = programs[access](config, token);
      noteGateway(from, 'seen');
      return caller;
    } catch (error) {
      noteGateway(from, 'refused');
      throw error;
    }
  };
};

/** Creates the function that authenticates the callers of every access level. */
export const createAuthenticate = (
  config: Tokens,
  db: Queryable,
  secrets: SecretsInUse,
  log: Log,
): Authenticate => {
  const findClient = createFindClient(db);
  const checkSession = createSessionTokenCheck(db, secrets);
  const checkHost = createHostCheck(config, db, log);
  const checkProgram = createProgramCheck(config, db, log);
  return async (authorization, access, from, { project, session }) => {
    const { scheme, value } = parse(authorization);
    if (
      access === 'session' &&
      session !== undefined &&
      scheme === 'bearer' &&
      isSessionToken(value)
    )
      return checkSession(value, session);
    if (isPublicAccess(access)) return findClient({ scheme, value }, access, project);
    if (scheme !== 'bearer') throw unauthenticated('this route needs a bearer token');
    return access === 'host' ? checkHost(value, from) : checkProgram(access, value, from);
  };
};
