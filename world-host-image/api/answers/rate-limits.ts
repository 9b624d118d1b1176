/**
 * Writes the rate limits that the connector declares (`[[api.rate_limits]]`) into headers of an answer. Unless a
 * declared fault enforces a limit, the limits are never used up: in each answer, the headers describe a window with
 * only this request in it.
 */
import type { ApiContract, RateLimit, RateLimitFact, RouteContract } from '#language/contract.ts';
import { fitsPath } from '#language/path-pattern.ts';
import type { WorldClock } from '../../session/clock.ts';
import type { UsedLimit } from '../../session/faults.ts';

/** One header: its name, and a function that returns its value at a time in seconds since 1970. */
type LimitHeader = { header: string; valueAt(now: number): string };

const factOf: Record<RateLimitFact, (limit: RateLimit, used: number, now: number) => unknown> = {
  name: ({ name }) => name,
  limit: ({ limit }) => limit,
  seconds: ({ seconds }) => seconds,
  used: (_, used) => used,
  remaining: ({ limit }, used) => limit - used,
  reset: ({ seconds }, _, now) => (Math.floor(now / seconds) + 1) * seconds,
  reset_after: ({ seconds }, _, now) => (Math.floor(now / seconds) + 1) * seconds - now,
};

/** Limits that a declared fault enforces, by name. */
type InForce = ReadonlyMap<string, UsedLimit>;

const noneInForce: InForce = new Map();

const headersOf = (
  declared: RateLimit,
  { path }: RouteContract,
  inForce: InForce,
): LimitHeader[] => {
  const { headers, paths = ['*'], uncounted } = declared;
  if (!paths.some((one) => fitsPath(one, path))) return [];
  const first = uncounted.some((one) => fitsPath(one, path)) ? 0 : 1;
  const { used = first, ...limit } = { ...declared, ...inForce.get(declared.name) };
  return Object.entries(headers).map(([header, fact]) => ({
    header,
    valueAt: (now) => String(factOf[fact](limit, used, now)),
  }));
};

/** Returns the headers of all limits of a route. If two limits declare the same header, the first limit sets it. */
const planFor = (
  { rateLimits = [] }: ApiContract,
  route: RouteContract,
  inForce: InForce,
): readonly LimitHeader[] => {
  const all = rateLimits.flatMap((limit) => headersOf(limit, route, inForce)).reverse();
  return [...new Map(all.map((each) => [each.header, each])).values()].reverse();
};

/** Headers of routes while no fault enforces a limit. */
const plans = new WeakMap<RouteContract, readonly LimitHeader[]>();

const planOf = (
  api: ApiContract,
  route: RouteContract,
  inForce: InForce,
): readonly LimitHeader[] => {
  if (inForce.size > 0) return planFor(api, route, inForce);
  const plan = plans.get(route) ?? planFor(api, route, inForce);
  plans.set(route, plan);
  return plan;
};

/** Returns the rate limit headers for every answer to a request of the route, at the world's current time. */
export const rateLimitHeaders = (
  api: ApiContract,
  route: RouteContract,
  clock: Pick<WorldClock, 'now'>,
  inForce: InForce = noneInForce,
): Record<string, string> => {
  if (api.rateLimits === undefined) return {};
  const plan = planOf(api, route, inForce);
  const now = Math.floor(clock.now().getTime() / 1_000);
  return Object.fromEntries(plan.map(({ header, valueAt }) => [header, valueAt(now)]));
};
