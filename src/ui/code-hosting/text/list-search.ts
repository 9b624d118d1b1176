/** Parses the search parameters of a list's address, and builds the vendor's search query from them. */
import type { Place } from '../api/vendor.ts';

export const perPage = 25;

export type State = 'open' | 'closed' | 'all';

/** Search parameters. `assignee` and `milestone` may be `none`. `sort` is a field and a direction: `created-desc`. */
export type ListSearch = {
  q?: string;
  state?: State;
  labels?: string[];
  assignee?: string;
  author?: string;
  milestone?: string;
  sort?: string;
  page?: number;
};

export const sorts = {
  'created-desc': 'Newest',
  'created-asc': 'Oldest',
  'updated-desc': 'Recently updated',
  'updated-asc': 'Least recently updated',
  'comments-desc': 'Most commented',
  'comments-asc': 'Least commented',
} as const;

const isState = (value: unknown): value is State =>
  value === 'open' || value === 'closed' || value === 'all';

/** Returns a parameter as text; the router parses numbers and the like. */
const textOf = (value: unknown): string =>
  value === undefined || value === null || typeof value === 'object' ? '' : String(value);

const named = (name: string, value: unknown): Record<string, string> => {
  const text = textOf(value);
  return text === '' ? {} : { [name]: text };
};

export const readPageNumber = (value: unknown): { page?: number } => {
  const page = Number(value);
  return Number.isInteger(page) && page > 1 ? { page } : {};
};

export const readListSearch = (given: Record<string, unknown>): ListSearch => {
  const { state, labels, sort } = given;
  const names = (Array.isArray(labels) ? labels : [labels]).map(textOf).filter((one) => one !== '');
  return {
    ...named('q', given.q),
    ...(isState(state) && state !== 'open' ? { state } : {}),
    ...(names.length === 0 ? {} : { labels: [...new Set(names)] }),
    ...named('assignee', given.assignee),
    ...named('author', given.author),
    ...named('milestone', given.milestone),
    ...(typeof sort === 'string' && Object.hasOwn(sorts, sort) ? { sort } : {}),
    ...readPageNumber(given.page),
  };
};

/** Quotes a value of a qualifier. The vendor's syntax cannot escape a quote within quotes. */
const quote = (text: string): string => `"${text.replaceAll('"', ' ')}"`;

const among = (qualifier: string, value: string | undefined): string[] => {
  if (value === undefined) return [];
  return value === 'none' ? [`no:${qualifier}`] : [`${qualifier}:${quote(value)}`];
};

/** Builds the query for `GET /search/issues`. The user's words may contain qualifiers of their own. */
export const searchQuery = (place: Place, kind: 'issue' | 'pr', search: ListSearch) => {
  const { q, state = 'open', labels = [], assignee, author, milestone, page = 1 } = search;
  const [sort = 'created', order = 'desc'] = (search.sort ?? 'created-desc').split('-');
  const words = [
    `repo:${place.owner}/${place.repo}`,
    `is:${kind}`,
    ...(state === 'all' ? [] : [`state:${state}`]),
    ...labels.map((label) => `label:${quote(label)}`),
    ...among('assignee', assignee),
    ...(author === undefined ? [] : [`author:${author}`]),
    ...among('milestone', milestone),
    ...(q === undefined ? [] : [q]),
  ];
  return { q: words.join(' '), sort, order, per_page: perPage, page };
};

/** Returns true if any filter other than the state is set. */
export const isNarrowed = ({ state: _, sort: __, page: ___, ...rest }: ListSearch): boolean =>
  Object.keys(rest).length > 0;
