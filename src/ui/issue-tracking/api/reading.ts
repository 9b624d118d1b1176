/** Queries of the pages, each cached by its path. */
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import type {
  Change,
  Comment,
  FieldMeta,
  Filter,
  Found,
  Issue,
  IssueType,
  LinkType,
  Named,
  Project,
  Status,
  Transition,
  User,
  Version,
  Work,
} from './bodies.ts';
import { ask, markupPathOf, pathOf, type Query, withQuery } from './vendor.ts';

/** Time for which answers that rarely change stay fresh, in milliseconds. */
const steadyMs = 60_000;

const mostUsers = 1_000;
export const perPage = 50;

/** Options of a query. If `isList` is true, the previous answer is shown until the next one arrives. */
type Given = { isSteady?: boolean; isNeeded?: boolean; isList?: boolean };

const useRead = <T>(path: string, query: Query = {}, given: Given = {}) => {
  const { isSteady = false, isNeeded = true, isList = false } = given;
  const asked = withQuery(path, query);
  return useQuery({
    queryKey: [asked],
    queryFn: () => ask<T>('GET', asked),
    enabled: isNeeded,
    ...(isList ? { placeholderData: keepPreviousData } : {}),
    ...(isSteady ? { staleTime: steadyMs } : {}),
  });
};

const steady = { isSteady: true };

export const useViewer = () => useRead<User>(pathOf('myself'), {}, steady);

type Listed<T> = { total: number; values: T[] };

export const useProjects = (words: string, page: number) =>
  useRead<Listed<Project>>(
    pathOf('project', 'search'),
    {
      expand: 'lead',
      maxResults: perPage,
      startAt: (page - 1) * perPage,
      ...(words === '' ? {} : { query: words }),
    },
    { isList: true },
  );

export const useProject = (key: string) => useRead<Project>(pathOf('project', key), {}, steady);

/** Reads the statuses of a project in the order of its workflow, without duplicates. */
export const useStatuses = (project: string) => {
  const path = pathOf('project', project, 'statuses');
  const { data, error, refetch } = useRead<{ statuses: Status[] }[]>(path, {}, steady);
  const all = data?.flatMap(({ statuses }) => statuses);
  const byId = new Map(all?.map((status) => [status.id, status]));
  return { data: all === undefined ? undefined : [...byId.values()], error, refetch };
};

/** Reads the statuses of the whole site. */
export const useSiteStatuses = (isNeeded: boolean) =>
  useRead<Status[]>(pathOf('status'), {}, { isSteady: true, isNeeded });

export const usePriorities = () => useRead<Named[]>(pathOf('priority'), {}, steady);

export const useIssueTypes = () => useRead<IssueType[]>(pathOf('issuetype'), {}, steady);

/** Reads the users to whom issues of a project can be assigned; without a project, all users. */
export const usePeople = (project: string) => {
  const path = project === '' ? pathOf('users', 'search') : pathOf('user', 'assignable', 'search');
  const query = { maxResults: mostUsers, ...(project === '' ? {} : { project }) };
  return useRead<User[]>(path, query, steady);
};

const listFields = 'summary,status,issuetype,priority,assignee,labels,updated,duedate,resolution';

export const useIssues = (jql: string, page = 1, most = perPage) =>
  useRead<Found>(
    pathOf('search'),
    { jql, fields: listFields, maxResults: most, startAt: (page - 1) * most },
    { isList: true },
  );

export const useFilters = () =>
  useRead<Listed<Filter>>(pathOf('filter', 'search'), { expand: 'jql' }, steady);

export const useIssue = (key: string) => useRead<Issue>(pathOf('issue', key), { fields: '*all' });

/** Reads the issue's description as markup, for editing. */
export const useMarkup = (key: string, isNeeded: boolean) =>
  useRead<{ fields: { description: string | null } }>(
    markupPathOf('issue', key),
    { fields: 'description' },
    { isNeeded },
  );

/** Reads a comment as markup, for editing. */
export const useCommentMarkup = (key: string, id: string, isNeeded: boolean) =>
  useRead<{ body: string }>(markupPathOf('issue', key, 'comment', id), {}, { isNeeded });

export const useEditMeta = (key: string) =>
  useRead<{ fields: Record<string, FieldMeta> }>(pathOf('issue', key, 'editmeta'), {}, steady);

export const transitionsPath = (key: string): string =>
  withQuery(pathOf('issue', key, 'transitions'), { expand: 'transitions.fields' });

export const useTransitions = (key: string) =>
  useRead<{ transitions: Transition[] }>(transitionsPath(key));

/** Returns the query parameters for the first entries of a list; each page has a hundred. */
const window = (pages: number): Query => ({ maxResults: pages * 100 });

export const useComments = (key: string, pages: number) =>
  useRead<{ total: number; comments: Comment[] }>(pathOf('issue', key, 'comment'), window(pages), {
    isList: true,
  });

export const useWork = (key: string, pages: number) =>
  useRead<{ total: number; worklogs: Work[] }>(pathOf('issue', key, 'worklog'), window(pages), {
    isList: true,
  });

export const useChanges = (key: string, pages: number) =>
  useRead<Listed<Change>>(pathOf('issue', key, 'changelog'), window(pages), { isList: true });

export const useLinkTypes = () =>
  useRead<{ issueLinkTypes: LinkType[] }>(pathOf('issueLinkType'), {}, steady);

type Picked = { sections: { issues: { key: string; summaryText: string }[] }[] };

/** Reads issues whose key or summary contains the words. */
export const usePickedIssues = (words: string) =>
  useRead<Picked>(pathOf('issue', 'picker'), { query: words }, { isNeeded: words.trim() !== '' });

export const useVersions = (project: string) =>
  useRead<Version[]>(pathOf('project', project, 'versions'));

export const useUnresolved = (version: string) =>
  useRead<{ issuesUnresolvedCount: number; issuesCount: number }>(
    pathOf('version', version, 'unresolvedIssueCount'),
  );

/** Reads the types that a new issue of a project can have. */
export const useCreateTypes = (project: string) =>
  useRead<{ issueTypes: IssueType[] }>(
    pathOf('issue', 'createmeta', project, 'issuetypes'),
    {},
    { isSteady: true, isNeeded: project !== '' },
  );

/** Reads the fields that a new issue of a type has. */
export const useCreateFields = (project: string, type: string) =>
  useRead<{ fields: FieldMeta[] }>(
    pathOf('issue', 'createmeta', project, 'issuetypes', type),
    { maxResults: 200 },
    { isSteady: true, isNeeded: project !== '' && type !== '' },
  );
