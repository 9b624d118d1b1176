/**
 * Parses the search parameters of a list's address, and builds the query from them. If the user wrote a query (`jql`),
 * that replaces all other parameters. Those are words and choices, for people who do not know the query language.
 */

export type ListSearch = {
  jql?: string;
  q?: string;
  status?: string;
  type?: string;
  assignee?: string;
  priority?: string;
  sort?: string;
  page?: number;
};

/** Orders of lists, by their name in an address, as parts of a query. */
export const sorts = {
  created: ['Newest', 'created DESC'],
  'created-asc': ['Oldest', 'created ASC'],
  updated: ['Last changed', 'updated DESC'],
  priority: ['Most urgent', 'priority DESC, created DESC'],
  due: ['Due first', 'due ASC, created DESC'],
} as const;

const texts = ['jql', 'q', 'status', 'type', 'assignee', 'priority', 'sort'] as const;

/** Parses the parameters of an address, which may contain anything. */
export const readListSearch = (given: Record<string, unknown>): ListSearch => {
  const said = texts.flatMap((name) => {
    const value = given[name];
    return typeof value === 'string' || typeof value === 'number' ? [[name, String(value)]] : [];
  });
  const page = Number(given.page);
  return {
    ...Object.fromEntries(said.filter(([, value]) => value !== '')),
    ...(Number.isInteger(page) && page > 1 ? { page } : {}),
  };
};

/** Quotes a text as a value of the query language. */
export const quote = (text: string): string =>
  `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;

/** Builds the query of a list; `project` is a key, or '' for all projects. */
export const jqlOf = (project: string, search: ListSearch): string => {
  if (search.jql !== undefined) return search.jql;
  const { q, status, type, assignee, priority, sort = 'created' } = search;
  const clauses = [
    project === '' ? '' : `project = ${quote(project)}`,
    q === undefined ? '' : `text ~ ${quote(q)}`,
    type === undefined ? '' : `issuetype = ${quote(type)}`,
    status === undefined ? '' : `status = ${quote(status)}`,
    assignee === undefined
      ? ''
      : assignee === 'none'
        ? 'assignee IS EMPTY'
        : `assignee = ${quote(assignee)}`,
    priority === undefined ? '' : `priority = ${quote(priority)}`,
  ].filter((clause) => clause !== '');
  const order = Object.hasOwn(sorts, sort)
    ? sorts[sort as keyof typeof sorts][1]
    : sorts.created[1];
  return `${clauses.join(' AND ')} ORDER BY ${order}`.trim();
};

export const isNarrowed = ({ page: _, sort: __, ...search }: ListSearch): boolean =>
  Object.keys(search).length > 0;
