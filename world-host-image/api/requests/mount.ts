/**
 * Where the API is mounted for a request: the prefix of its path, under which `[api] prefixes` lets all
 * routes answer as well, and the addresses that its client knows. Routes are looked for by the path below.
 */
import type { ApiContract } from '#language/contract.ts';
import { type Addresses, createAddresses } from '../../routes/addresses.ts';
import type { Session } from '../../session/session.ts';
import type { ApiRequest } from './api-request.ts';

/** Where the API is mounted, as the client of one request sees it. */
export type Mount = {
  /** The beginning of the path as it was sent; '' for none. */
  prefix: string;
  addresses: Addresses | undefined;
};

/** A host with an optional port; what else a client may send there belongs in no link. */
const hostPattern = /^(?:[\w.-]{1,253}|\[[\da-f:.]{2,45}\])(?::\d{1,5})?$/i;

/**
 * Where the client finds the API: `https` behind a proxy that says so, and the path that it is mounted at.
 * Undefined for a client that names no host. `headers` have names in lower case.
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

/** Addresses in an answer keep the prefix, as some clients follow no other ones. */
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

/** The path that routes are looked for by: below the prefix, and as `[api] aliases` have it. */
export const pathBelow = (
  { path }: Pick<ApiRequest, 'path'>,
  { prefix }: Mount,
  { aliases = [] }: ApiContract,
): string => {
  const below = prefix === '' ? path : path.slice(prefix.length) || '/';
  const alias = aliases.find(({ from }) => isBelow(below, from));
  return alias === undefined ? below : `${alias.to}${below.slice(alias.from.length)}`;
};
