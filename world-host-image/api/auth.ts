/**
 * Decides whether a request may use the API. The request must carry either the session's token, whatever the vendor's
 * scheme is, or an access token that the session has minted. All ways in which clients commonly send a token are
 * accepted: `Authorization` with `Bearer`, `token` or any other scheme, or with no scheme; user name or password of
 * Basic; and the header or query parameter that the vendor's scheme names. A token in any other query parameter is
 * ignored.
 */
import { type ApiContract, scopesOf } from '#language/contract.ts';
import type { Session } from '../session/session.ts';
import { type ApiAnswer, vendorAnswer } from './answers/answer.ts';
import type { ApiRequest } from './requests/api-request.ts';
import { carriersOf } from './requests/credential.ts';

type Credentials = Pick<ApiRequest, 'headers' | 'query'>;
type SessionTokens = Pick<Session, 'token' | 'tokens'>;

const basicParts = (encoded: string): string[] => {
  const decoded = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = decoded.indexOf(':');
  return colon === -1 ? [decoded] : [decoded.slice(0, colon), decoded.slice(colon + 1)];
};

/** Returns the token of `Token token="..."`, which some frameworks send. */
const namedToken = (text: string): string[] => {
  const [, token] = /^token="?([^\s",]+)"?$/.exec(text) ?? [];
  return token === undefined ? [] : [token];
};

const authorizationTokens = (header: string): string[] => {
  const text = header.trim();
  const [, scheme = '', rest = ''] = /^(\S+)\s+(.*)$/.exec(text) ?? [];
  switch (scheme.toLowerCase()) {
    case '':
      return [text];
    case 'basic':
      return basicParts(rest);
    case 'token':
      return [rest, ...namedToken(rest)];
    default:
      return [rest];
  }
};

/** Returns every text that may be a token, from all places where a request can carry one. */
export const tokensIn = (api: ApiContract, { headers, query }: Credentials): string[] => {
  const { header, parameter } = carriersOf(api);
  const tokens = [
    ...authorizationTokens(headers.authorization ?? ''),
    ...(header === null ? [] : [headers[header] ?? '']),
    ...(parameter === null ? [] : query.getAll(parameter)),
  ];
  return tokens.filter((text) => text !== '');
};

/** Reason for rejecting a request, in the terms of RFC 6750; `none` for a request without any credential. */
type Fault = 'none' | 'invalid_token' | 'expired' | 'insufficient_scope';

/** Returns why none of the tokens is a valid minted access token; undefined when one is. */
const faultOf = (
  { tokens }: SessionTokens,
  api: ApiContract,
  given: readonly string[],
): Fault | undefined => {
  const found = given.map(tokens.findAccess).find((minted) => minted !== undefined);
  if (found === undefined) return given.length === 0 ? 'none' : 'invalid_token';
  if (found.isExpired) return 'expired';
  const isWhole = scopesOf(api.auth.scope).every((scope) => found.scopes.includes(scope));
  return isWhole ? undefined : 'insufficient_scope';
};

/** Returns the scopes without characters that a quoted header value cannot contain. */
const quotable = (scope: string | null): string =>
  scopesOf(scope)
    .join(' ')
    .replaceAll(/[^\x20\x21\x23-\x5b\x5d-\x7e]/g, '');

const challengeOf = (fault: Fault, { auth }: ApiContract): string => {
  switch (fault) {
    case 'none':
      return 'Bearer realm="api"';
    case 'invalid_token':
      return 'Bearer error="invalid_token", error_description="The token is not known"';
    case 'expired':
      return 'Bearer error="invalid_token", error_description="The token has expired"';
    case 'insufficient_scope':
      return `Bearer error="insufficient_scope", scope="${quotable(auth.scope)}"`;
  }
};

const reasons: Record<Fault, string> = {
  none: 'no token',
  invalid_token: 'no valid token',
  expired: 'the token has expired',
  insufficient_scope: 'the token lacks a scope',
};

/**
 * Returns the vendor's answer to a request without a valid credential; undefined if the credential is valid. Only
 * worlds with scheme `oauth2` have minted tokens and `WWW-Authenticate` challenges.
 */
export const refusalOf = (
  session: SessionTokens,
  api: ApiContract,
  credentials: Credentials,
): ApiAnswer | undefined => {
  const given = tokensIn(api, credentials);
  if (given.some((text) => session.token.matches(text))) return undefined;
  if (api.auth.scheme !== 'oauth2') {
    return vendorAnswer(
      api,
      api.unauthorized,
      reasons[given.length === 0 ? 'none' : 'invalid_token'],
    );
  }
  const fault = faultOf(session, api, given);
  if (fault === undefined) return undefined;
  const status = fault === 'insufficient_scope' ? 403 : api.unauthorized.status;
  const answer = vendorAnswer(api, api.unauthorized, reasons[fault], status);
  return { ...answer, headers: { 'www-authenticate': challengeOf(fault, api) } };
};
