/**
 * Checks `[auth]`: which keys each credential scheme requires, allows or excludes. The file names environment
 * variables, never credentials; a served world knows only the scheme and the name.
 */
import type { ApiContract, AuthScheme } from '../contract.ts';
import type { AuthTable } from '../files/connector/vendor.ts';
import type { Connector } from '../files/connector-toml.ts';
import type { Place } from '../read/place.ts';

type Need = 'must' | 'may' | 'never';

/** For each key, the schemes that require it and the schemes that allow it. All other schemes exclude the key. */
const rules: Record<
  'name' | 'secret_env' | 'token_url' | 'client_id_env' | 'scope',
  {
    must: readonly AuthScheme[];
    may: readonly AuthScheme[];
  }
> = {
  name: { must: ['header', 'query'], may: [] },
  secret_env: { must: ['header', 'bearer', 'basic', 'query', 'oauth2'], may: [] },
  token_url: { must: [], may: ['oauth2'] },
  client_id_env: { must: ['oauth2'], may: [] },
  scope: { must: [], may: ['oauth2'] },
};

const needOf = (key: keyof typeof rules, scheme: AuthScheme): Need => {
  if (rules[key].must.includes(scheme)) return 'must';
  return rules[key].may.includes(scheme) ? 'may' : 'never';
};

/** Returns the name of the credential's header, in lower case. */
const secretHeader = ({ scheme, name }: AuthTable): string | undefined => {
  if (scheme === 'header') return name?.toLowerCase();
  return scheme === 'query' || scheme === 'none' ? undefined : 'authorization';
};

const isHeaderName = (name: string): boolean => /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name);

const checkHeaders = (place: Place, table: AuthTable): void => {
  const { scheme, name, headers } = table;
  if (scheme === 'header' && name !== undefined && !isHeaderName(name)) {
    place.at('name').refuse('bad_value', `"${name}" is not a header name`);
  }
  const seen = new Set<string>();
  for (const header of headers.keys()) {
    const at = place.at('headers', header).ofKey();
    const folded = header.toLowerCase();
    if (!isHeaderName(header)) at.refuse('bad_value', `"${header}" is not a header name`);
    if (folded === secretHeader(table)) {
      at.refuse('duplicate', `the header "${header}" already has the credential`);
    } else if (seen.has(folded)) {
      at.refuse(
        'duplicate',
        `the header "${header}" is already listed, in other upper and lower case`,
      );
    }
    seen.add(folded);
  }
};

/** Returns the path of the vendor's token URL. The world mints tokens there unless `[api]` names another path. */
const pathOfTokenUrl = (url: string): string =>
  url.startsWith('/') ? url : (URL.parse(url)?.pathname ?? '/');

const readTokenPath = ({ auth, api, place }: Connector): string | null => {
  if (auth?.place.at('scheme').isRefused()) return null;
  const isMinted = auth?.value.scheme === 'oauth2';
  if (isMinted) return api.token_path ?? pathOfTokenUrl(auth.value.token_url ?? '/oauth/token');
  if (api.token_path !== undefined) {
    const message = `a world with the scheme "${auth?.value.scheme ?? 'none'}" mints no tokens`;
    place.at('api', 'token_path').refuse('unexpected_key', message, 'leave it out');
  }
  return null;
};

const checkTable = (place: Place, table: AuthTable): void => {
  if (place.at('scheme').isRefused()) return;
  for (const key of Object.keys(rules) as (keyof typeof rules)[]) {
    const need = needOf(key, table.scheme);
    if (need === 'must' && table[key] === undefined) {
      place.at(key).refuse('missing_key', `the scheme "${table.scheme}" requires the key "${key}"`);
    }
    if (need === 'never' && table[key] !== undefined) {
      place
        .at(key)
        .refuse('unexpected_key', `the scheme "${table.scheme}" does not use the key "${key}"`);
    }
  }
  checkHeaders(place, table);
};

/** Checks the table `[auth]` and returns the part that a served world needs. */
export const checkAuth = (connector: Connector): ApiContract['auth'] => {
  const { auth } = connector;
  if (auth !== undefined) checkTable(auth.place, auth.value);
  return {
    scheme: auth?.value.scheme ?? 'none',
    name: auth?.value.name ?? null,
    tokenPath: readTokenPath(connector),
    scope: auth?.value.scope ?? null,
  };
};
