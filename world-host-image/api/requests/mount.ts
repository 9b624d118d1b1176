/**
 * Finds where the API is mounted for a request: the prefix of its path, if `[api] prefixes` declares one, and the
 * addresses that its client knows. Routes are matched against the path below the prefix.
 */
import type { ApiContract } from '#language/contract.ts';
import { type Addresses, createAddresses } from '../../routes/addresses.ts';
import type { Session } from '../../session/session.ts';
import type { ApiRequest } from './api-request.ts';

/** Mount point of the API, as the client of one request sees it. */
export type Mount = {
  /** Prefix of the path as sent; '' for none. */
  prefix: string;
  addresses: Addresses | undefined;
};

/** Pattern of a host with an optional port. A `Host` header with any other text is not used in links. */
const hostPattern = /^(?:[\w.-]{1,253}|\[[\da-f:.]{2,45}\])(?::\d{1,5})?$/i;

/**
 * Returns the URL at which the client finds the API: `https` if a proxy forwards that protocol, with the path of the
 * mount. Undefined if the client names no valid host. `headers` have names in lower case.
 */
export const calledAt = ({
  headers,
  mountedAt = '',
}: {
  headers: Readonly<Record<string, string>>;
  mountedAt?: string | undefined;
}): string | undefined => {
  const { host = '' } = headers;
  const isSecure = headers['x-forwarded-proto']?.split(',')[0]?.trim() === 'https';
  return hostPattern.test(host)
    ? `${isSecure ? 'https' : 'http'}://${host}${mountedAt}`
    : undefined;
};

const isBelow = (path: string, prefix: string): boolean =>
  path.startsWith(prefix) && (path.length === prefix.length || path[prefix.length] === '/');

/**
 * Returns the mount of a request. Addresses in an answer contain the prefix of the request, because some clients follow
 * only addresses with the prefix that they called.
 */
export const mountOf = (
  { address, formerAddresses, world }: Pick<Session, 'address' | 'formerAddresses' | 'world'>,
  api: ApiContract,
  { headers, path, mountedAt }: Pick<ApiRequest, 'headers' | 'path' | 'mountedAt'>,
): Mount => {
  const prefix = api.prefixes?.find((candidate) => isBelow(path, candidate)) ?? '';
  const origin = calledAt({ headers, mountedAt }) ?? address;
  if (origin === null) return { prefix, addresses: undefined };
  const also = address === null ? [] : [address, ...formerAddresses];
  return { prefix, addresses: createAddresses(world.contract, origin, { prefix, also }) };
};

/** Returns the path for matching routes: below the prefix, with `[api] aliases` applied. */
export const pathBelow = (
  { path }: Pick<ApiRequest, 'path'>,
  { prefix }: Mount,
  { aliases = [] }: ApiContract,
): string => {
  const below = prefix === '' ? path : path.slice(prefix.length) || '/';
  const alias = aliases.find(({ from }) => isBelow(below, from));
  return alias === undefined ? below : `${alias.to}${below.slice(alias.from.length)}`;
};
