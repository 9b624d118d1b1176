/** Checks declared rate limits: each names existing routes, and headers that can be sent. */
import type { ApiContract, RateLimit, RouteContract } from '../contract.ts';
import { headerPattern } from '../files/connector/api.ts';
import type { RateLimitTable } from '../files/connector/rate-limits.ts';
import { fitsPath } from '../path-pattern.ts';
import type { Place } from '../read/place.ts';
import { nearestName } from '../read/suggest.ts';

/** Names of headers that HTTP and the host itself use, so that a world cannot. */
const takenHeaders = new Set([
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'date',
  'etag',
  'keep-alive',
  'last-modified',
  'location',
  'trailer',
  'transfer-encoding',
]);

const checkPaths = (place: Place, written: readonly string[], known: readonly string[]): void => {
  for (const [index, path] of written.entries()) {
    if (known.some((candidate) => fitsPath(path, candidate))) continue;
    const nearest = nearestName(path, known);
    const hint =
      nearest === undefined
        ? 'write the path exactly as in its operation'
        : `did you mean "${nearest}"?`;
    place
      .at(index)
      .refuse('bad_value', `the world serves no operation with the path ${path}`, hint);
  }
};

/** Refuses names of headers that cannot be sent, or that the host sends. */
export const checkHeaders = (place: Place, names: Iterable<string>): void => {
  const seen = new Map<string, string>();
  for (const name of names) {
    const lower = name.toLowerCase();
    const other = seen.get(lower);
    const at = place.at(name).ofKey();
    if (!headerPattern.test(name)) {
      at.refuse('bad_name', `"${name.slice(0, 100)}" is not a header name`);
    } else if (takenHeaders.has(lower)) {
      at.refuse('reserved_name', `the header ${name} is sent by the host itself`);
    } else if (other !== undefined) {
      at.refuse('duplicate', `${name} and ${other} are the same header in different case`);
    }
    seen.set(lower, other ?? name);
  }
};

const toRateLimit = ({ headers, paths, ...written }: RateLimitTable): RateLimit => ({
  ...written,
  ...(paths === undefined ? {} : { paths }),
  headers: Object.fromEntries(
    [...headers].map(([name, fact]) => [name.toLowerCase(), fact] as const),
  ),
});

/** Returns the world's rate limits. `place` is the place of the table `[api]`. */
export const readRateLimits = (
  place: Place,
  tables: readonly RateLimitTable[],
  routes: readonly RouteContract[],
): Pick<ApiContract, 'rateLimits'> => {
  if (tables.length === 0) return {};
  const known = routes.map(({ path }) => path);
  const names = new Set<string>();
  for (const [index, { name, paths = [], uncounted, headers }] of tables.entries()) {
    const at = place.at('rate_limits', index);
    if (names.has(name)) at.at('name').refuse('duplicate', `two rate limits are named "${name}"`);
    names.add(name);
    checkPaths(at.at('paths'), paths, known);
    checkPaths(at.at('uncounted'), uncounted, known);
    checkHeaders(at.at('headers'), headers.keys());
  }
  return { rateLimits: tables.map(toRateLimit) };
};
