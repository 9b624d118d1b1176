/**
 * Client of the world's own API, below the prefix that `[ui] api_path` names. It is the vendor's API, so errors are
 * shown in the vendor's words, at the input of the field that they name.
 */
import { type Answer, AskError, errorOf, exchange, isGood } from '../../host/ask.ts';

const apiPath = '/__world-api';

/** Maximum number of rows on a page, as the vendor allows, and maximum number of pages that are read of a list. */
export const mostPerPage = 100;
const mostPages = 10;

type Wrong = { field?: string; code?: string; message?: string };

const wordsOfCode: Record<string, string> = {
  missing: 'does not exist',
  missing_field: 'is needed',
  invalid: 'is not valid',
  already_exists: 'exists already',
};

/** Vendor's message about a field; `field` is '' if the message concerns the request as a whole. */
export type Complaint = { field: string; words: string };

const toComplaint = (wrong: Wrong | string): Complaint => {
  if (typeof wrong === 'string') return { field: '', words: wrong };
  const { field = '', code = '', message } = wrong;
  return { field, words: message ?? `${field} ${wordsOfCode[code] ?? code}` };
};

/** Returns the vendor's messages about an error, one by one. */
export const complaintsOf = (error: unknown): Complaint[] => {
  if (!(error instanceof AskError)) return [];
  const { errors } = (error.answer ?? {}) as { errors?: unknown };
  return Array.isArray(errors) ? (errors as (Wrong | string)[]).map(toComplaint) : [];
};

const secondsToWait = ({ headers }: Answer): number | undefined => {
  const after = Number(headers.get('retry-after') ?? Number.NaN);
  if (after > 0) return after;
  if (headers.get('x-ratelimit-remaining') !== '0') return undefined;
  const now = new Date(headers.get('date') ?? Date.now()).getTime() / 1_000;
  return Math.max(1, Math.ceil(Number(headers.get('x-ratelimit-reset')) - now));
};

/**
 * Returns true if the error came from the vendor's API, rather than from the session's host. Only errors of the API
 * link to the vendor's documentation.
 */
const isVendors = ({ value }: Answer): boolean =>
  typeof value === 'object' && value !== null && 'documentation_url' in value;

/** Returns a hint at what to do about an error; undefined if its status needs no explanation. */
const hintOf = (answer: Answer): string | undefined => {
  const { status } = answer;
  const wait = status === 403 || status === 429 ? secondsToWait(answer) : undefined;
  if (wait !== undefined) return `Wait ${wait} seconds, then try again.`;
  if (status !== 403 || !isVendors(answer)) return undefined;
  return 'A person with more rights in the repository can do it.';
};

const send = async (method: string, path: string, body?: unknown): Promise<Answer> => {
  const answer = await exchange(method, `${apiPath}${path}`, body);
  if (isGood(answer)) return answer;
  const error = errorOf(answer);
  const hint = hintOf(answer);
  if (hint === undefined) throw error;
  throw new AskError(error.status, error.message, [], { answer: answer.value, hint });
};

type Query = Record<string, string | number>;

const withQuery = (path: string, query: Query): string => {
  const texts = Object.entries(query).map(([name, value]) => [name, String(value)]);
  return texts.length === 0 ? path : `${path}?${new URLSearchParams(texts)}`;
};

/** Reads the body of an answer. Throws `AskError`. */
export const read = async <T>(path: string, query: Query = {}): Promise<T> =>
  (await send('GET', withQuery(path, query))).value as T;

export const write = async <T>(method: string, path: string, body?: unknown): Promise<T> =>
  (await send(method, path, body)).value as T;

/** Page of a list. `hasMore` is true if another page follows. */
export type Page<T> = { items: T[]; hasMore: boolean };

export const readPage = async <T>(path: string, query: Query = {}): Promise<Page<T>> => {
  const { value, headers } = await send('GET', withQuery(path, query));
  return { items: value as T[], hasMore: /rel="next"/.test(headers.get('link') ?? '') };
};

/** Reads the first pages of a list, as many as requested and at most ten. */
export const readPages = async <T>(path: string, pages = mostPages): Promise<Page<T>> => {
  const items: T[] = [];
  for (let page = 1; ; page += 1) {
    const { items: more, hasMore } = await readPage<T>(path, { per_page: mostPerPage, page });
    items.push(...more);
    if (!hasMore || page >= pages) return { items, hasMore };
  }
};

/** Owner and name of a repository, which are part of the vendor's addresses. */
export type Place = { owner: string; repo: string };

const segment = (text: string): string => encodeURIComponent(text);

/** Returns a path below a repository: `pathOf(place, 'issues', 12)`. */
export const pathOf = ({ owner, repo }: Place, ...rest: (string | number)[]): string =>
  ['/repos', segment(owner), segment(repo), ...rest.map((part) => segment(String(part)))].join('/');

/** Encodes a branch for a path, and keeps its slashes. */
export const pathOfBranch = (branch: string): string => branch.split('/').map(segment).join('/');

/** Returns the repository that an address of the API names. */
export const placeIn = (address: string): Place | undefined => {
  const [, owner, repo] = /\/repos\/([^/?#]+)\/([^/?#]+)/.exec(address) ?? [];
  if (owner === undefined || repo === undefined) return undefined;
  return { owner: decodeURIComponent(owner), repo: decodeURIComponent(repo) };
};
