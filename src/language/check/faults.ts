/**
 * Checks declared faults. Each rule names existing routes, has exactly one effect, and one condition that decides when
 * it applies.
 */
import type { ApiContract, Fault, FaultEffect, Faults, RateLimit } from '../contract.ts';
import {
  effectKeys,
  type FaultsTable,
  type FaultTable,
  mostFaultHeaders,
} from '../files/connector/faults.ts';
import { fitsPath } from '../path-pattern.ts';
import type { Place } from '../read/place.ts';
import { nearestName, suggestName } from '../read/suggest.ts';
import { checkBody } from './error-answers.ts';
import { checkHeaders } from './rate-limits.ts';

/** Part of an API to which faults refer. */
export type FaultedApi = Pick<ApiContract, 'routes' | 'rateLimits' | 'errorContentType'>;

type Key = Exclude<keyof FaultTable, 'name'>;

/** Keys that are allowed only together with one of the keys that follow them. */
const needs: [key: Key, ...beside: Key[]][] = [
  ['times', 'nth'],
  ['body', 'status', 'rate_limit'],
  ['headers', 'status', 'rate_limit'],
  ['limit', 'rate_limit'],
  ['seconds', 'rate_limit'],
  ['retry_after', 'rate_limit'],
];

/** Keys that exclude each other, with the reason. */
const excludes: [key: Key, other: Key, why: string][] = [
  ['chance', 'nth', 'a rule may have nth or chance, but not both'],
  ['nth', 'rate_limit', 'a rate limit itself counts the requests'],
  ['chance', 'rate_limit', 'a rate limit itself counts the requests'],
  [
    'routes',
    'rate_limit',
    'a rate limit applies to the paths of its own table in [[api.rate_limits]]',
  ],
  ['drop', 'status', 'a connection that is dropped gets no answer, so no status'],
  ['drop', 'rate_limit', 'a request that is dropped is not refused because of a rate limit'],
];

const isGiven = (rule: FaultTable, place: Place, key: Key): boolean =>
  key === 'headers' ? rule.headers.size > 0 : rule[key] !== undefined || place.at(key).isRefused();

const checkKeys = (place: Place, rule: FaultTable): void => {
  const has = (key: Key): boolean => isGiven(rule, place, key);
  for (const [key, ...beside] of needs) {
    if (!has(key) || beside.some(has)) continue;
    place
      .at(key)
      .refuse('unexpected_key', `"${key}" has an effect only together with ${beside.join(' or ')}`);
  }
  for (const [key, other, why] of excludes) {
    if (has(key) && has(other)) place.at(key).refuse('unexpected_key', why);
  }
  if (has('latency_ms') || effectKeys.some(has)) return;
  const message = 'the rule has no effect';
  place.refuse('bad_value', message, 'give the rule status, drop, rate_limit or latency_ms');
};

const checkRoutes = (
  place: Place,
  written: readonly string[],
  { routes }: Pick<FaultedApi, 'routes'>,
): void => {
  const paths = routes.map(({ path }) => path);
  const operations = routes.map(({ operation }) => operation);
  for (const [index, name] of written.entries()) {
    const at = place.at(index);
    if (name.startsWith('/')) {
      if (paths.some((path) => fitsPath(name, path))) continue;
      const nearest = nearestName(name, paths);
      const hint =
        nearest === undefined ? 'write the path exactly as in its operation' : suggestion(nearest);
      at.refuse('bad_value', `the world serves no operation with the path ${name}`, hint);
    } else if (!operations.includes(name)) {
      const message = `the world serves no operation named "${name}"`;
      at.refuse('bad_value', message, suggestName(name, operations));
    }
  }
};

const suggestion = (nearest: string): string => `did you mean "${nearest}"?`;

/** Returns the rate limit that a rule enforces; it must be declared. */
const findLimit = (
  place: Place,
  name: string,
  { rateLimits = [] }: Pick<FaultedApi, 'rateLimits'>,
): RateLimit | undefined => {
  const found = rateLimits.find((limit) => limit.name === name);
  if (found === undefined) {
    const names = rateLimits.map((limit) => limit.name);
    const hint =
      suggestName(name, names) ?? 'declare the rate limit in [[api.rate_limits]] of connector.toml';
    place.refuse('bad_value', `there is no rate limit "${name}"`, hint);
  }
  return found;
};

const answerOf = ({ body = '', headers }: FaultTable, status: number) => ({
  status,
  body,
  headers: Object.fromEntries([...headers].map(([name, value]) => [name.toLowerCase(), value])),
});

const readEffect = (place: Place, rule: FaultTable, api: FaultedApi): FaultEffect | undefined => {
  const { body, drop, headers, limit, rate_limit, retry_after, seconds, status } = rule;
  if (body !== undefined) checkBody(place.at('body'), body, api.errorContentType);
  checkHeaders(place.at('headers'), headers.keys());
  if (headers.size > mostFaultHeaders) {
    const message = `there are ${headers.size} headers, more than ${mostFaultHeaders}`;
    place.at('headers').refuse('too_many', message);
  }
  if (rate_limit !== undefined) {
    const found = findLimit(place.at('rate_limit'), rate_limit, api);
    if (found === undefined) return undefined;
    return {
      kind: 'rate_limit',
      limit: rate_limit,
      most: limit ?? found.limit,
      seconds: seconds ?? found.seconds,
      retryAfter: retry_after ?? true,
      ...answerOf(rule, status ?? 429),
    };
  }
  if (drop !== undefined) return { kind: 'drop', at: drop };
  return status === undefined ? undefined : { kind: 'status', ...answerOf(rule, status) };
};

const readWhen = ({ nth, times = 1, chance }: FaultTable): Fault['when'] => {
  if (nth !== undefined) return { nth, times };
  return chance === undefined ? undefined : { chance };
};

const readRule = (place: Place, rule: FaultTable, api: FaultedApi): Fault => {
  const { name, routes, latency_ms: latencyMs } = rule;
  checkKeys(place, rule);
  checkRoutes(place.at('routes'), routes ?? [], api);
  const when = readWhen(rule);
  const effect = readEffect(place, rule, api);
  return {
    name,
    ...(routes === undefined ? {} : { routes }),
    ...(when === undefined ? {} : { when }),
    ...(latencyMs === undefined ? {} : { latencyMs }),
    ...(effect === undefined ? {} : { effect }),
  };
};

/** Returns the faults of a table at `place`, and refuses each rule that is wrong. */
export const readFaults = (
  place: Place,
  { tools, rules }: FaultsTable,
  api: FaultedApi,
): Faults => {
  const seen = { name: new Set<string>(), rate_limit: new Set<string>() };
  const read = rules.map((rule, index) => {
    const at = place.at('rules', index);
    for (const key of ['name', 'rate_limit'] as const) {
      const value = rule[key] ?? '';
      if (seen[key].has(value)) at.at(key).refuse('duplicate', `two rules are named "${value}"`);
      if (value !== '') seen[key].add(value);
    }
    return readRule(at, rule, api);
  });
  return { tools, rules: read };
};
