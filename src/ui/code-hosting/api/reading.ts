/** Queries of the pages, each with the key of its cache entry. */
import { keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query';
import { AskError } from '../../host/ask.ts';
import { type ListSearch, perPage, searchQuery } from '../text/list-search.ts';
import type {
  ChangedFile,
  Check,
  Commit,
  Issue,
  Label,
  Milestone,
  Moment,
  Pull,
  Repository,
  Review,
  ReviewComment,
  Status,
  User,
} from './bodies.ts';
import {
  type Page,
  type Place,
  pathOf,
  pathOfBranch,
  read,
  readPage,
  readPages,
} from './vendor.ts';

/** Time for which answers that rarely change stay fresh, in milliseconds. */
const steadyMs = 60_000;
/** Time for which search results stay fresh, in milliseconds: the vendor limits searches to thirty a minute. */
const searchMs = 15_000;

export const useViewer = () =>
  useQuery({
    queryKey: ['viewer'],
    queryFn: () => read<User>('/user'),
    staleTime: Number.POSITIVE_INFINITY,
  });

type Found<T> = { total_count: number; items: T[] };

/** Reads the viewer's repositories. If there are search words, reads all repositories that match them instead. */
export const useRepositories = (words: string, page: number) =>
  useQuery({
    queryKey: ['repositories', words, page],
    queryFn: async (): Promise<Page<Repository>> => {
      const place = { per_page: perPage, page };
      if (words === '') return readPage('/user/repos', place);
      const query = { q: words, ...place };
      const found = await read<Found<Repository>>('/search/repositories', query);
      return { items: found.items, hasMore: page * perPage < found.total_count };
    },
    placeholderData: keepPreviousData,
    staleTime: searchMs,
  });

export const useRepository = (place: Place) =>
  useQuery({
    queryKey: ['repository', place],
    queryFn: () => read<Repository>(pathOf(place)),
    staleTime: steadyMs,
  });

export const useIssues = (place: Place, kind: 'issue' | 'pr', search: ListSearch) =>
  useQuery({
    queryKey: ['list', place, kind, search],
    queryFn: () => read<Found<Issue>>('/search/issues', searchQuery(place, kind, search)),
    placeholderData: keepPreviousData,
    staleTime: searchMs,
  });

export const issueOptions = (place: Place, number: number) =>
  queryOptions({
    queryKey: ['issue', place, number],
    queryFn: () => read<Issue>(pathOf(place, 'issues', number)),
  });

export const useIssue = (place: Place, number: number) => useQuery(issueOptions(place, number));

export const useTimeline = (place: Place, number: number, pages: number) =>
  useQuery({
    queryKey: ['timeline', place, number, pages],
    queryFn: () => readPages<Moment>(pathOf(place, 'issues', number, 'timeline'), pages),
    placeholderData: keepPreviousData,
  });

const whole = async <T>(path: string): Promise<T[]> => (await readPages<T>(path)).items;

/** Reads the labels that an issue of the repository can have. */
export const useLabels = (place: Place) =>
  useQuery({
    queryKey: ['labels', place],
    queryFn: () => whole<Label>(pathOf(place, 'labels')),
    staleTime: steadyMs,
  });

export const useAssignable = (place: Place) =>
  useQuery({
    queryKey: ['assignable', place],
    queryFn: () => whole<User>(pathOf(place, 'assignees')),
    staleTime: steadyMs,
  });

export const useMilestones = (place: Place) =>
  useQuery({
    queryKey: ['milestones', place],
    queryFn: () => whole<Milestone>(pathOf(place, 'milestones')),
    staleTime: steadyMs,
  });

// Pull requests

export const usePull = (place: Place, number: number) =>
  useQuery({
    queryKey: ['pull', place, number],
    queryFn: () => read<Pull>(pathOf(place, 'pulls', number)),
  });

export const useCommits = (place: Place, number: number) =>
  useQuery({
    queryKey: ['commits', place, number],
    queryFn: () => readPages<Commit>(pathOf(place, 'pulls', number, 'commits')),
  });

export const useFiles = (place: Place, number: number) =>
  useQuery({
    queryKey: ['files', place, number],
    queryFn: () => readPages<ChangedFile>(pathOf(place, 'pulls', number, 'files')),
  });

export const useReviews = (place: Place, number: number) =>
  useQuery({
    queryKey: ['reviews', place, number],
    queryFn: () => whole<Review>(pathOf(place, 'pulls', number, 'reviews')),
  });

export const useReviewComments = (place: Place, number: number) =>
  useQuery({
    queryKey: ['review comments', place, number],
    queryFn: () => whole<ReviewComment>(pathOf(place, 'pulls', number, 'comments')),
  });

/** Reads whether a branch still exists. */
export const useHasBranch = (place: Place, branch: string) =>
  useQuery({
    queryKey: ['branch', place, branch],
    queryFn: () =>
      read(`${pathOf(place, 'branches')}/${pathOfBranch(branch)}`).then(
        () => true,
        (error: unknown) => {
          if (error instanceof AskError && error.status === 404) return false;
          throw error;
        },
      ),
  });

export type Verdict = { name: string; state: 'good' | 'bad' | 'waiting' };

const ofCheck = ({ name, status, conclusion }: Check): Verdict => {
  if (status !== 'completed') return { name, state: 'waiting' };
  const isGood = ['success', 'neutral', 'skipped'].includes(conclusion ?? '');
  return { name, state: isGood ? 'good' : 'bad' };
};

const ofStatus = ({ context, state }: Status): Verdict => {
  const states = { success: 'good', pending: 'waiting' } as const;
  return { name: context, state: states[state as keyof typeof states] ?? 'bad' };
};

/** Reads checks and statuses of a commit. */
export const useChecks = (place: Place, sha: string) =>
  useQuery({
    queryKey: ['checks', place, sha],
    queryFn: async (): Promise<Verdict[]> => {
      const [runs, combined] = await Promise.all([
        read<{ check_runs: Check[] }>(pathOf(place, 'commits', sha, 'check-runs')),
        read<{ statuses: Status[] }>(pathOf(place, 'commits', sha, 'status')),
      ]);
      return [...runs.check_runs.map(ofCheck), ...combined.statuses.map(ofStatus)];
    },
  });
