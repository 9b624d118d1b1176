/**
 * Removes or masks the credential of a request: in `Authorization`, and in the header or query parameter that the
 * vendor's scheme names. After authentication, neither user code, nor page links, nor the request ledger may see it.
 */
import type { ApiContract } from '#language/contract.ts';
import type { ApiRequest } from './api-request.ts';

type Carriers = { header: string | null; parameter: string | null };

/** Returns the places where the vendor's scheme puts the credential; the header's name is in lower case. */
export const carriersOf = ({ auth }: ApiContract): Carriers => ({
  header: auth.scheme === 'header' && auth.name !== null ? auth.name.toLowerCase() : null,
  parameter: auth.scheme === 'query' ? auth.name : null,
});

const queryWithout = (query: URLSearchParams, parameter: string | null): URLSearchParams => {
  if (parameter === null || !query.has(parameter)) return query;
  const rest = new URLSearchParams(query);
  rest.delete(parameter);
  return rest;
};

/** Returns the request without credentials, and without cookies, which a world does not use. */
export const withoutCredential = (api: ApiContract, request: ApiRequest): ApiRequest => {
  const { header, parameter } = carriersOf(api);
  const { authorization: _, cookie: __, ...headers } = request.headers;
  if (header !== null) delete headers[header];
  return { ...request, headers, query: queryWithout(request.query, parameter) };
};

type Shown = {
  path: string;
  query: Record<string, string | string[]>;
  headers: Record<string, string>;
};

/**
 * Returns path, query and headers for the ledger. Values in the places of the vendor's credential are always masked.
 * The ledger itself masks secrets whose name or value it knows.
 */
export const shownRequest = (
  api: ApiContract | null,
  { path, query, headers }: Pick<ApiRequest, 'path' | 'query' | 'headers'>,
): Shown => {
  const { header, parameter } = api === null ? { header: null, parameter: null } : carriersOf(api);
  const valuesOf = (name: string): string | string[] => {
    const values = query.getAll(name).map((value) => (name === parameter ? '***' : value));
    return values.length === 1 ? (values[0] ?? '') : values;
  };
  const names = query.size === 0 ? [] : [...new Set(query.keys())];
  return {
    path,
    query: Object.fromEntries(names.map((name) => [name, valuesOf(name)])),
    headers:
      header === null || headers[header] === undefined ? headers : { ...headers, [header]: '***' },
  };
};
