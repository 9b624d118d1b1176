/**
 * Derives an API from observed exchanges. Requests whose paths differ only at ids belong to one route; the bodies of
 * answers show which fields it may have.
 */
import { isObject } from '#domain/json.ts';
import type { JsonSchema } from '#language/contract.ts';
import { createFieldBudget, createSeen, schemaOf, see } from '#language/edit/reconcile/seen.ts';
import { type Api, type ApiParam, type ApiRoute, type Mark, singular, snakeCase } from './api.ts';
import type { SeenExchange } from './exchange.ts';

const looksLikeId = (segment: string): boolean =>
  /^\d+$/.test(segment) ||
  /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i.test(segment) ||
  /^[0-9a-f]{12,}$/i.test(segment) ||
  /^[A-Z][A-Z0-9]*-\d+$/.test(segment) ||
  (/^[A-Za-z0-9_-]{8,}$/.test(segment) && /\d/.test(segment) && !/^v\d/.test(segment)) ||
  segment.includes('@');

const segmentsOf = (path: string): string[] =>
  path
    .split('/')
    .filter((part) => part !== '')
    .map(decode);

const decode = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

/** Returns the path with an argument in place of each id, named after the word before it. */
const templateOf = (segments: readonly string[]): string => {
  const taken = new Set<string>();
  const parts = segments.map((segment, index) => {
    if (!looksLikeId(segment)) return encodeURIComponent(segment);
    const before = segments.slice(0, index).findLast((one) => !looksLikeId(one)) ?? 'item';
    const wanted = `${singular(snakeCase(before))}_id`;
    let name = wanted;
    for (let number = 2; taken.has(name); number += 1) name = `${wanted}_${number}`;
    taken.add(name);
    return `{${name}}`;
  });
  return `/${parts.join('/')}`;
};

/** Returns the prefix that the paths of all exchanges share, if it looks like a base path, such as `/api/v3`. */
const commonBase = (paths: readonly string[][]): string[] => {
  const [first = []] = paths;
  const length = first.findIndex((segment, index) => {
    const isShared = paths.every((path) => path[index] === segment && path.length > index + 1);
    return !isShared || !/^(?:api|rest|v\d[\w.]*|\d+(?:\.\d+)*|latest)$/i.test(segment);
  });
  return first.slice(0, length === -1 ? Math.max(0, first.length - 1) : length);
};

const schemaOfAll = (values: readonly unknown[]): JsonSchema | null => {
  const known = values.filter((value) => value !== undefined && value !== null);
  if (known.length === 0) return null;
  const seen = createSeen(createFieldBudget());
  for (const value of known) see(seen, value);
  return schemaOf(seen);
};

const paramOf = (name: string, values: readonly string[], repeated: boolean): ApiParam => {
  const isNumber = values.every((value) => /^-?\d{1,15}$/.test(value));
  const [value = ''] = values;
  const schema = { type: isNumber ? 'integer' : 'string' };
  return {
    name: name.replace(/\[\]$/, ''),
    repeated,
    schema,
    sample: isNumber ? Number(value) : value,
  };
};

const isGood = ({ status }: SeenExchange): boolean => status >= 200 && status <= 299;

type Group = {
  method: string;
  path: string;
  seen: { exchange: SeenExchange; segments: string[] }[];
};

const toRoute = ({ method, path, seen }: Group): ApiRoute => {
  const good = seen.filter(({ exchange }) => isGood(exchange));
  const template = segmentsOf(path);
  const pathParams = template.flatMap((part, index): ApiParam[] => {
    const [, name] = /^\{(.+)\}$/.exec(part) ?? [];
    const values = (good.length > 0 ? good : seen).map(({ segments }) => segments[index] ?? '');
    return name === undefined ? [] : [paramOf(name, values, false)];
  });
  const query = new Map<string, { values: string[]; repeated: boolean }>();
  for (const { exchange } of seen) {
    const { searchParams } = new URL(exchange.url);
    for (const name of new Set(searchParams.keys())) {
      const values = searchParams.getAll(name);
      const known = query.get(name) ?? { values: [], repeated: name.endsWith('[]') };
      query.set(name, known);
      known.values.push(...values);
      known.repeated ||= values.length > 1;
    }
  }
  const words = path.replace(/\{[^}]*\}/g, (argument) => `by ${argument.slice(1, -1)}`);
  return {
    name: snakeCase(`${method} ${words}`),
    method: method as ApiRoute['method'],
    path,
    pathParams,
    // Lists of observed values are not samples of a single value.
    params: [...query].map(([name, { values, repeated }]) => ({
      ...paramOf(name, values, repeated),
      sample: undefined,
    })),
    status: good[0]?.exchange.status ?? 200,
    answer: schemaOfAll(good.map(({ exchange }) => exchange.body)),
    request: schemaOfAll(good.map(({ exchange }) => exchange.request)),
    examples: good
      .map(({ exchange }) => exchange.body)
      .filter((body) => isObject(body) || Array.isArray(body)),
  };
};

/** Returns the origin to which most exchanges were sent. */
const usualOrigin = (exchanges: readonly SeenExchange[]): string => {
  const counts = new Map<string, number>();
  for (const { url } of exchanges) {
    const { origin } = new URL(url);
    counts.set(origin, (counts.get(origin) ?? 0) + 1);
  }
  return [...counts].sort((a, b) => b[1] - a[1])[0]?.[0] ?? 'https://api.example.invalid';
};

/** Returns true if an address is equal to another one or below it. */
const isAt = (url: string, base: string): boolean =>
  url.startsWith(base) && (base.endsWith('/') || /^(?:[/?#]|$)/.test(url.slice(base.length)));

/** Derives an API from exchanges. `base` is the API's address, if that is known. */
export const apiFromExchanges = (
  exchanges: readonly SeenExchange[],
  known: { base?: string; title?: string } = {},
): { api: Api; marks: Mark[] } => {
  const marks: Mark[] = [];
  const origin = known.base ?? usualOrigin(exchanges);
  const own = exchanges.filter(({ url }) => isAt(url, origin));
  if (own.length < exchanges.length) {
    const message = `${exchanges.length - own.length} of ${exchanges.length} requests were sent to other addresses and are left out`;
    marks.push({ place: '[connector] base_url', message });
  }
  const basePath = segmentsOf(new URL(origin).pathname);
  const paths = own.map(({ url }) => segmentsOf(new URL(url).pathname).slice(basePath.length));
  const base = known.base === undefined ? commonBase(paths) : [];
  const groups = new Map<string, Group>();
  for (const [index, exchange] of own.entries()) {
    const segments = (paths[index] ?? []).slice(base.length);
    if (segments.length === 0) continue;
    const path = templateOf(segments);
    const key = `${exchange.method} ${path}`;
    const group = groups.get(key) ?? { method: exchange.method, path, seen: [] };
    groups.set(key, group);
    group.seen.push({ exchange, segments });
  }
  const routes = [...groups.values()].map(toRoute);
  const taken = new Set<string>();
  for (const route of routes) {
    const wanted = route.name;
    for (let number = 2; taken.has(route.name); number += 1) route.name = `${wanted}_${number}`;
    taken.add(route.name);
  }
  const auth = own.find((one) => one.auth !== undefined)?.auth ?? { scheme: 'none' as const };
  const baseUrl = [origin.replace(/\/+$/, ''), ...base].join('/');
  const title = known.title ?? new URL(origin).hostname;
  return { api: { title, baseUrl, auth, routes }, marks };
};
