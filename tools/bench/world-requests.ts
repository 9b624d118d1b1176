/** Requests to the code hosts, the same for each. */
import type { LoadRequest } from './host-load.ts';
import { issueCount, path, topicOf } from './world-rows.ts';

export const worldOperations = ['get', 'list30', 'list100', 'search', 'create'] as const;
export type WorldOperation = (typeof worldOperations)[number];

/** Operations whose first request is measured by itself. */
export const firstOperations = ['get', 'list30'] as const;
export type FirstOperation = (typeof firstOperations)[number];

/** Number of requests in a cycle, so large that none is repeated while the same one is in progress. */
export const requestCount = 320;
const firstCount = 180;

type HeadersOf = (index: number) => Record<string, string>;

/** Returns the number of an issue, in a pseudo-random order. */
const numberAt = (index: number): number => ((index * 617 + 131) % issueCount) + 1;

const gets = (
  count: number,
  headers: HeadersOf,
  pathAt: (index: number) => string,
): LoadRequest[] =>
  Array.from({ length: count }, (_, index) => ({
    method: 'GET',
    path: pathAt(index),
    headers: headers(index),
  }));

const pagesOf = (count: number, page: number): number => (page % count) + 1;

const commentAt = (index: number, headers: HeadersOf): LoadRequest => ({
  method: 'POST',
  path: `${path}/issues/${numberAt(index)}/comments`,
  headers: { ...headers(index), 'Content-Type': 'application/json' },
  body: JSON.stringify({ body: `Seen again at pier ${index % 47}, on the plan of this week.` }),
});

/** Builds cycles of the five requests. The 667 open issues make 22 full pages of 30. */
export const requestsOf = (headers: HeadersOf): Record<WorldOperation, LoadRequest[]> => ({
  get: gets(requestCount, headers, (index) => `${path}/issues/${numberAt(index)}`),
  list30: gets(
    requestCount,
    headers,
    (index) => `${path}/issues?per_page=30&page=${pagesOf(22, index)}`,
  ),
  list100: gets(
    requestCount,
    headers,
    (index) => `${path}/issues?state=all&per_page=100&page=${pagesOf(10, index)}`,
  ),
  search: gets(
    requestCount,
    headers,
    (index) => `/search/issues?q=${topicOf(index)}+repo:northquay/berth`,
  ),
  create: Array.from({ length: requestCount }, (_, index) => commentAt(index, headers)),
});

/** Returns the path of a list of 30 with order and state. None equals a request of the cycle, which names neither. */
const listAt = (index: number): string => {
  const sort = ['created', 'updated', 'comments'][index % 3];
  const direction = ['asc', 'desc'][Math.floor(index / 3) % 2];
  const state = ['open', 'closed', 'all'][Math.floor(index / 6) % 3];
  const page = Math.floor(index / 18) + 1;
  return `${path}/issues?state=${state}&sort=${sort}&direction=${direction}&per_page=30&page=${page}`;
};

/** Builds requests that all differ, for a session that has received none yet. */
export const firstRequestsOf = (headers: HeadersOf): Record<FirstOperation, LoadRequest[]> => ({
  get: gets(firstCount, headers, (index) => `${path}/issues/${numberAt(requestCount + index)}`),
  list30: gets(firstCount, headers, listAt),
});
