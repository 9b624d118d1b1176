/**
 * Authentication of requests to a world's API. A session has one token. Its API accepts the token as a bearer token,
 * whatever the vendor, and also in the vendor's own scheme, so that the vendor's clients work.
 */
import { type ApiContract, type JsonSchema, scopesOf } from '../contract.ts';

const session: JsonSchema = {
  type: 'http',
  scheme: 'bearer',
  description: "The token of the session's API surface.",
};

/** Returns the URL of a path on the server, whose own URL may end with a slash. */
const below = (serverUrl: string, path: string): string =>
  /^https?:\/\//i.test(path) ? path : `${serverUrl.replace(/\/+$/, '')}${path}`;

const oauth2 = ({ tokenPath, scope }: ApiContract['auth'], serverUrl: string): JsonSchema => {
  const url = below(serverUrl, tokenPath ?? '/oauth/token');
  return {
    type: 'oauth2',
    description: 'Bearers that the world mints.',
    flows: {
      clientCredentials: {
        tokenUrl: url,
        refreshUrl: url,
        scopes: Object.fromEntries(scopesOf(scope).map((name) => [name, ''])),
      },
    },
  };
};

/** Returns the vendor's scheme; undefined if sessions do not serve it in addition to the bearer token. */
const vendorScheme = (auth: ApiContract['auth'], serverUrl: string): JsonSchema | undefined => {
  switch (auth.scheme) {
    case 'header':
      return { type: 'apiKey', in: 'header', name: auth.name ?? 'Authorization' };
    case 'query':
      return { type: 'apiKey', in: 'query', name: auth.name ?? '' };
    case 'basic':
      return { type: 'http', scheme: 'basic' };
    case 'oauth2':
      return oauth2(auth, serverUrl);
    case 'bearer':
    case 'none':
      return undefined;
  }
};

/** Returns the security schemes of the document, and the requirements; a request must meet one of them. */
export const securityOf = (
  { auth }: ApiContract,
  serverUrl: string,
): { schemes: JsonSchema; requirements: JsonSchema[] } => {
  const vendor = vendorScheme(auth, serverUrl);
  return vendor === undefined
    ? { schemes: { session }, requirements: [{ session: [] }] }
    : { schemes: { session, vendor }, requirements: [{ session: [] }, { vendor: [] }] };
};
