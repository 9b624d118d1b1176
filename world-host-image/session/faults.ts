/**
 * Faults of a session: the rules in force, which rules apply to each request, and how often each has applied. The rules
 * are the declared ones (`[api.faults]`) unless a call `faults` has set other rules. Requests are counted from the
 * start of the session or its last reset. This module only decides; the API and the tools carry out its decisions.
 */
import type { ApiContract, Fault, FaultAnswer, FaultEffect, Faults } from '#language/contract.ts';
import { mostLatencyMs } from '#language/files/connector/faults.ts';
import { fitsPath } from '#language/path-pattern.ts';
import type { WorldClock } from './clock.ts';
import { drawChance } from './ids.ts';

/** Target of faults: a route, or a tool that is not bound to a route. */
export type FaultTarget = { operation: string; path: string } | 'tool';

/** Effect of a rule on a request, as recorded in the request ledger. */
export type MetFault = { name: string } & (
  | { kind: 'latency'; ms: number }
  | { kind: 'status'; status: number }
  | { kind: 'rate_limit'; limit: string; status: number }
  | { kind: 'drop'; at: 'before' | 'after' }
);

/** State of a rate limit in force; `used` includes the current request. */
export type UsedLimit = { limit: number; seconds: number; used: number };

/** Effects of all rules on one request. */
export type Met = {
  faults: MetFault[];
  latencyMs: number;
  /** Answer to give instead of running the request. */
  answer?: FaultAnswer;
  drop?: 'before' | 'after';
  /** Rate limits in force, by name. */
  limits: ReadonlyMap<string, UsedLimit>;
};

export type SessionFaults = {
  /** Counts a request and returns the faults that apply to it; undefined if no rule is in force. */
  meet(target: FaultTarget): Met | undefined;
  /** Returns true if faults also apply to tool calls. */
  holdForTools(): boolean;
  /** Replaces the rules by the given rules, or by the declared ones, and restarts the counts. */
  set(faults: Faults | 'declared'): void;
  /** Sets the declared rules and restarts the counts. */
  reset(): void;
  /**
   * Returns the rules in force. For each rule, `counts` has the number of requests that the rule was checked against,
   * and the number that it applied to.
   */
  view(): Faults & { isDeclared: boolean; counts: { requests: number; met: number }[] };
};

type State = {
  rule: Fault;
  requests: number;
  met: number;
  /**
   * Number of the rate limit's time window in which the last request was counted; `used` is the number of requests in
   * it.
   */
  window: number;
  used: number;
};

export type FaultParts = {
  api: Pick<ApiContract, 'faults' | 'rateLimits'> | null;
  seed: number | null;
  clock: Pick<WorldClock, 'now'>;
};

const none: Faults = { tools: false, rules: [] };

const holdsFor = (routes: readonly string[] | undefined, target: FaultTarget): boolean => {
  if (routes === undefined) return true;
  if (target === 'tool') return false;
  const { operation, path } = target;
  return routes.some((one) => (one.startsWith('/') ? fitsPath(one, path) : one === operation));
};

/** Returns true if one of the paths matches the target's path. A tool that is not bound to a route has no path. */
const isAmong = (paths: readonly string[], target: FaultTarget): boolean =>
  target !== 'tool' && paths.some((one) => fitsPath(one, target.path));

type LimitEffect = Extract<FaultEffect, { kind: 'rate_limit' }>;

/**
 * Counts a request against a rate limit. Returns the limit's state, and the error answer if the limit is exceeded;
 * undefined if the limit does not apply to the target.
 */
const drawOnLimit = (
  state: State,
  effect: LimitEffect,
  { api, clock }: FaultParts,
  target: FaultTarget,
): { used: UsedLimit; refusal?: FaultAnswer } | undefined => {
  const limit = api?.rateLimits?.find(({ name }) => name === effect.limit);
  if (limit === undefined) return undefined;
  if (limit.paths !== undefined && !isAmong(limit.paths, target)) return undefined;
  const { most, seconds, status, body, headers, retryAfter } = effect;
  const now = Math.floor(clock.now().getTime() / 1_000);
  const window = Math.floor(now / seconds);
  if (window !== state.window) Object.assign(state, { window, used: 0 });
  const isCounted = !isAmong(limit.uncounted, target);
  const isBeyond = isCounted && state.used >= most;
  if (isCounted && !isBeyond) state.used += 1;
  const used = { limit: most, seconds, used: state.used };
  if (!isBeyond) return { used };
  const wait = { 'retry-after': String((window + 1) * seconds - now) };
  return { used, refusal: { status, body, headers: { ...(retryAfter ? wait : {}), ...headers } } };
};

const meetsNow = ({ rule: { when }, requests }: State, seed: number | null, stream: number) => {
  if (when === undefined) return true;
  if ('chance' in when) return drawChance(seed, stream, requests) < when.chance;
  return requests >= when.nth && requests < when.nth + when.times;
};

/** Adds the effects of one rule to `met`. If several rules would answer or drop a request, only the first one does. */
const add = (met: Met, { name, latencyMs, effect }: Fault, refusal?: FaultAnswer): void => {
  const ms = Math.min(latencyMs ?? 0, mostLatencyMs - met.latencyMs);
  if (ms > 0) {
    met.latencyMs += ms;
    met.faults.push({ name, kind: 'latency', ms });
  }
  if (effect === undefined || met.answer !== undefined || met.drop !== undefined) return;
  if (effect.kind === 'drop') {
    met.drop = effect.at;
    met.faults.push({ name, kind: 'drop', at: effect.at });
  } else if (effect.kind === 'status') {
    const { kind, status, body, headers } = effect;
    met.answer = { status, body, headers };
    met.faults.push({ name, kind, status });
  } else if (refusal !== undefined) {
    met.answer = refusal;
    met.faults.push({ name, kind: effect.kind, limit: effect.limit, status: refusal.status });
  }
};

const statesOf = ({ rules }: Faults): State[] =>
  rules.map((rule) => ({ rule, requests: 0, met: 0, window: -1, used: 0 }));

/** Creates the faults of a session, starting with the declared rules. */
export const createFaults = (parts: FaultParts): SessionFaults => {
  const declared = parts.api?.faults ?? none;
  let isDeclared = true;
  let inForce = declared;
  let states = statesOf(declared);

  const put = (faults: Faults): void => {
    isDeclared = faults === declared;
    inForce = faults;
    states = statesOf(faults);
  };

  /** Checks one rule against a request, and adds its effects to `met`. */
  const ask = (met: Met, limits: Map<string, UsedLimit>, stream: number, target: FaultTarget) => {
    const state = states[stream] as State;
    const { effect, routes } = state.rule;
    const isLimit = effect?.kind === 'rate_limit';
    const limit = isLimit ? drawOnLimit(state, effect, parts, target) : undefined;
    if (isLimit ? limit === undefined : !holdsFor(routes, target)) return;
    state.requests += 1;
    if (isLimit && limit !== undefined) limits.set(effect.limit, limit.used);
    if (isLimit ? limit?.refusal === undefined : !meetsNow(state, parts.seed, stream)) return;
    state.met += 1;
    add(met, state.rule, limit?.refusal);
  };

  return {
    meet(target) {
      if (states.length === 0) return undefined;
      const limits = new Map<string, UsedLimit>();
      const met: Met = { faults: [], latencyMs: 0, limits };
      for (const stream of states.keys()) ask(met, limits, stream, target);
      return met;
    },
    holdForTools: () => inForce.tools && states.length > 0,
    set: (faults) => put(faults === 'declared' ? declared : faults),
    reset: () => put(declared),
    view: () => ({
      ...inForce,
      isDeclared,
      counts: states.map(({ requests, met }) => ({ requests, met })),
    }),
  };
};

/** Creates faults without any rule. */
export const noFaults = (): SessionFaults =>
  createFaults({ api: null, seed: null, clock: { now: () => new Date(0) } });
