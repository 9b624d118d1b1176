/**
 * Whether a request carries the session's token. Vendors' clients send it in many ways, all of them
 * accepted: `Authorization: Bearer` or `token` in any case, alone, or as user name or password of
 * Basic; and in the header that the vendor's own scheme names. Never in the query string.
 */
import type { ApiContract } from '#language/contract.ts';
import type { Secret } from '#runtime/secret.ts';

const basicParts = (encoded: string): string[] => {
  const decoded = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = decoded.indexOf(':');
  return colon === -1 ? [decoded] : [decoded.slice(0, colon), decoded.slice(colon + 1)];
};

const authorizationTokens = (header: string): string[] => {
  const [, scheme = '', rest = ''] = /^(\S+)\s+(.*)$/.exec(header.trim()) ?? [];
  switch (scheme.toLowerCase()) {
    case 'bearer':
    case 'token':
      return [rest.trim()];
    case 'basic':
      return basicParts(rest.trim());
    default:
      return [header.trim()];
  }
};

export const isAuthorized = (
  api: ApiContract,
  token: Secret,
  headers: Readonly<Record<string, string>>,
): boolean => {
  const own =
    api.auth.scheme === 'header' ? headers[(api.auth.name ?? '').toLowerCase()] : undefined;
  const given = [
    ...authorizationTokens(headers.authorization ?? ''),
    ...(own === undefined ? [] : [own]),
  ];
  return given.some((text) => text !== '' && token.matches(text));
};
