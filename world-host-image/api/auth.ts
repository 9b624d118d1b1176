/**
 * Whether a request may use the API: it carries the session's token, whatever the vendor's scheme is,
 * or a bearer that the session has minted. Vendors' clients send tokens in many ways, all of them
 * accepted: `Authorization: Bearer`, `token` or any other word in any case, alone, or as user name or
 * password of Basic; and in the header or the query parameter that the vendor's own scheme names. In
 * any other query parameter a token is worth nothing.
 */
import { type ApiContract, scopesOf } from '#language/contract.ts';
import type { Session } from '../session/session.ts';
import { type ApiAnswer, vendorAnswer } from './answers/answer.ts';
import type { ApiRequest } from './requests/api-request.ts';
import { carriersOf } from './requests/credential.ts';

type Credentials = Pick<ApiRequest, 'headers' | 'query'>;
type Door = Pick<Session, 'token' | 'tokens'>;

const basicParts = (encoded: string): string[] => {
  const decoded = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = decoded.indexOf(':');
  return colon === -1 ? [decoded] : [decoded.slice(0, colon), decoded.slice(colon + 1)];
};

/** The token in `Token token="..."`, as frameworks write it. */
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

/** What may be tokens in the places where a request can carry them. */
export const tokensIn = (api: ApiContract, { headers, query }: Credentials): string[] => {
  const { header, parameter } = carriersOf(api);
  const tokens = [
    ...authorizationTokens(headers.authorization ?? ''),
    ...(header === null ? [] : [headers[header] ?? '']),
    ...(parameter === null ? [] : query.getAll(parameter)),
  ];
  return tokens.filter((text) => text !== '');
};

/** Why a request is turned away, in the terms of RFC 6750; `none`: it shows no credential at all. */
type Fault = 'none' | 'invalid_token' | 'expired' | 'insufficient_scope';

/** What is wrong with the tokens as minted bearers; undefined when one of them is good. */
const faultOf = (
  { tokens }: Door,
  api: ApiContract,
  given: readonly string[],
): Fault | undefined => {
  const found = given.map(tokens.findAccess).find((minted) => minted !== undefined);
  if (found === undefined) return given.length === 0 ? 'none' : 'invalid_token';
  if (found.isExpired) return 'expired';
  const isWhole = scopesOf(api.auth.scope).every((scope) => found.scopes.includes(scope));
  return isWhole ? undefined : 'insufficient_scope';
};

/** Scopes as a header can hold them. */
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
 * The answer to a request without a valid credential, in the vendor's words; undefined lets it pass.
 * Minted bearers, and the challenges that tell of them, are those of worlds with scheme `oauth2`.
 */
export const refusalOf = (
  door: Door,
  api: ApiContract,
  credentials: Credentials,
): ApiAnswer | undefined => {
  const given = tokensIn(api, credentials);
  if (given.some((text) => door.token.matches(text))) return undefined;
  if (api.auth.scheme !== 'oauth2') {
    return vendorAnswer(
      api,
      api.unauthorized,
      reasons[given.length === 0 ? 'none' : 'invalid_token'],
    );
  }
  const fault = faultOf(door, api, given);
  if (fault === undefined) return undefined;
  const status = fault === 'insufficient_scope' ? 403 : api.unauthorized.status;
  const answer = vendorAnswer(api, api.unauthorized, reasons[fault], status);
  return { ...answer, headers: { 'www-authenticate': challengeOf(fault, api) } };
};
