/**
 * Token path of a world with scheme `oauth2`. It mints access tokens like vendors' authorization servers (RFC 6749),
 * for the grants `client_credentials` and `refresh_token`. The client secret is the session's token, with any client
 * id; the scopes are those of the connector.
 */
import { isDeepStrictEqual } from 'node:util';
import { type ApiContract, scopesOf } from '#language/contract.ts';
import { splitPath } from '../routes/router.ts';
import { tokenLifetimeSeconds } from '../session/oauth-tokens.ts';
import type { Session } from '../session/session.ts';
import { beginTurn } from '../session/session.ts';
import { type ApiAnswer, jsonAnswer } from './answers/answer.ts';
import {
  clientSecrets,
  isMisread,
  readParameters,
  type TokenParameters,
} from './oauth-parameters.ts';
import type { ApiOutcome, ApiRequest } from './requests/api-request.ts';

type TokenError =
  | 'invalid_request'
  | 'invalid_client'
  | 'invalid_grant'
  | 'invalid_scope'
  | 'unsupported_grant_type';

const answerWith = (status: number, body: object): ApiAnswer => ({
  ...jsonAnswer(status, JSON.stringify(body)),
  headers: { 'cache-control': 'no-store', pragma: 'no-cache' },
});

const refusal = (error: TokenError, description: string, status = 400): ApiAnswer => ({
  ...answerWith(status, { error, error_description: description }),
  reason: `${error}: ${description}`,
});

const strangerAnswer = (): ApiAnswer => {
  const answer = refusal('invalid_client', 'the client secret is missing or wrong', 401);
  return { ...answer, headers: { ...answer.headers, 'www-authenticate': 'Basic realm="token"' } };
};

/** Operation name of token requests in the ledger. */
export const tokenOperation = 'oauth2.token';

/** Splits a path, ignoring a slash at its end. */
const segmentsOf = (path: string): string[] | undefined => {
  const segments = splitPath(path);
  return segments?.at(-1) === '' ? segments.slice(0, -1) : segments;
};

/** Returns true if the path is the token path. Only `POST` requests to it mint tokens. */
export const isTokenPath = ({ auth }: ApiContract, path: string): boolean => {
  if (auth.tokenPath === null) return false;
  return auth.tokenPath === path || isDeepStrictEqual(segmentsOf(path), segmentsOf(auth.tokenPath));
};

/** Returns true for a token request, which is answered without a route lookup. */
export const isTokenRequest = (
  api: ApiContract,
  { method, path }: Pick<ApiRequest, 'method' | 'path'>,
): boolean => method === 'POST' && isTokenPath(api, path);

type Wish = { granted: readonly string[]; refreshToken: string | null };

/**
 * Returns the scopes to grant: those that the client requests, or by default all that the client may have. Rejects any
 * other scope.
 */
const wishOf = (
  parameters: TokenParameters,
  open: readonly string[],
  refreshToken: string | null,
): Wish | ApiAnswer => {
  const asked = scopesOf(parameters.get('scope') ?? null);
  return asked.every((scope) => open.includes(scope))
    ? { granted: asked.length === 0 ? open : asked, refreshToken }
    : refusal('invalid_scope', 'more was asked for than can be granted');
};

const readWish = (
  { tokens }: Session,
  { auth }: ApiContract,
  parameters: TokenParameters,
): Wish | ApiAnswer => {
  switch (parameters.get('grant_type')) {
    case 'client_credentials':
      return wishOf(parameters, scopesOf(auth.scope), null);
    case 'refresh_token': {
      const token = parameters.get('refresh_token');
      if (token === undefined) return refusal('invalid_request', 'refresh_token is missing');
      const scopes = tokens.findRefresh(token);
      if (scopes === undefined) return refusal('invalid_grant', 'the refresh token is not known');
      return wishOf(parameters, scopes, token);
    }
    case undefined:
      return refusal('invalid_request', 'grant_type is missing');
    default:
      return refusal(
        'unsupported_grant_type',
        'only client_credentials and refresh_token are granted here',
      );
  }
};

/** Mints the tokens for a client. Only a granted request counts as a turn of the session. */
const grant = (session: Session, api: ApiContract, parameters: TokenParameters): ApiAnswer => {
  const { tokens } = session;
  const wish = readWish(session, api, parameters);
  if ('status' in wish) return wish;
  beginTurn(session);
  const { granted, refreshToken } = wish;
  return answerWith(200, {
    access_token: tokens.mintAccess(granted),
    token_type: 'Bearer',
    expires_in: tokenLifetimeSeconds,
    refresh_token: refreshToken ?? tokens.mintRefresh(granted),
    ...(granted.length === 0 ? {} : { scope: granted.join(' ') }),
  });
};

/** Parameters that are never secret. The ledger masks the values of all other parameters. */
const openParameters = new Set(['grant_type', 'scope', 'client_id']);

const forLedger = ({ token }: Session, parameters: TokenParameters): unknown =>
  Object.fromEntries(
    [...parameters].map(([name, value]) => {
      const isOpen = openParameters.has(name) && !value.includes(token.reveal());
      return [name, isOpen ? value : '***'];
    }),
  );

/** Answers a token request. Also returns a body for the ledger: the parameters without secrets. */
export const answerTokenRequest = async (
  session: Session,
  api: ApiContract,
  { headers, readBody }: Pick<ApiRequest, 'headers' | 'readBody'>,
): Promise<Pick<ApiOutcome, 'answer' | 'authorized' | 'body'>> => {
  const text = (await readBody())?.toString();
  const refusedWith = (answer: ApiAnswer, body: unknown = null) => ({
    answer,
    authorized: false,
    body,
  });
  if (text === undefined)
    return refusedWith(refusal('invalid_request', 'the body is too large', 413));
  const parameters = readParameters(headers['content-type'] ?? '', text);
  if (isMisread(parameters)) return refusedWith(refusal('invalid_request', parameters.error));
  const body = forLedger(session, parameters);
  const secrets = clientSecrets(headers.authorization ?? '', parameters);
  if (isMisread(secrets)) return refusedWith(refusal('invalid_request', secrets.error), body);
  if (!secrets.some((secret) => session.token.matches(secret))) {
    return refusedWith(strangerAnswer(), body);
  }
  const answer = await session.world.store.exclusively(() => grant(session, api, parameters));
  return { answer, authorized: true, body };
};
