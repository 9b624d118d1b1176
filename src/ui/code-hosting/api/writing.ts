/** Mutations of the pages. A change is shown only after the vendor has confirmed it. */
import { type QueryClient, useMutation, useQueryClient } from '@tanstack/react-query';
import { useAnnounce } from '../../pieces/announce.tsx';
import type { Choice } from '../../pieces/picker.tsx';
import type { Issue, Reason } from './bodies.ts';
import { type Place, pathOf, pathOfBranch, write } from './vendor.ts';

/** Issue, or the issue of a pull request. */
export type Target = { place: Place; number: number };

/** Invalidates all queries that may show the issue. */
const forget = (client: QueryClient, { place, number }: Target): Promise<unknown> => {
  const about = ['issue', 'timeline', 'pull', 'reviews', 'review comments', 'commits', 'files'];
  const shown = about.map((what) => client.invalidateQueries({ queryKey: [what, place, number] }));
  const lists = ['list', 'checks', 'branch'].map((what) =>
    client.invalidateQueries({ queryKey: [what, place] }),
  );
  return Promise.all([...shown, ...lists]);
};

/** Returns a mutation of an issue. After it succeeds, it reloads the issue and announces the text `done`. */
export const useAct = <Input>(
  target: Target,
  act: (input: Input) => Promise<unknown>,
  done: string,
) => {
  const client = useQueryClient();
  const announce = useAnnounce();
  return useMutation<unknown, Error, Input>({
    mutationFn: act,
    // Reloads also after an error: one of several steps may have succeeded.
    onSettled: () => forget(client, target),
    onSuccess: () => announce(done),
  });
};

const issuePath = ({ place, number }: Target, ...rest: string[]): string =>
  pathOf(place, 'issues', number, ...rest);

export type IssueFields = {
  title?: string;
  body?: string;
  milestone?: number | null;
  state?: 'open' | 'closed';
  state_reason?: Reason;
};

export const updateIssue = (target: Target, fields: IssueFields): Promise<Issue> =>
  write('PATCH', issuePath(target), fields);

export type NewIssue = IssueFields & { title: string; labels: string[]; assignees: string[] };

export const createIssue = (place: Place, fields: NewIssue): Promise<Issue> =>
  write('POST', pathOf(place, 'issues'), fields);

export const addComment = (target: Target, body: string): Promise<unknown> =>
  write('POST', issuePath(target, 'comments'), { body });

export const updateComment = (place: Place, id: number, body: string): Promise<unknown> =>
  write('PATCH', pathOf(place, 'issues', 'comments', id), { body });

const without = (one: readonly string[], other: readonly string[]): string[] =>
  one.filter((name) => !other.includes(name));

export const changeLabels = async (target: Target, { before, after }: Choice): Promise<void> => {
  const labels = without(after, before);
  if (labels.length > 0) await write('POST', issuePath(target, 'labels'), { labels });
  for (const name of without(before, after)) {
    await write('DELETE', issuePath(target, 'labels', name));
  }
};

/** Adds and removes people, given by their logins. The vendor's path takes POST to add and DELETE to remove. */
const changePeople = async (path: string, member: string, { before, after }: Choice) => {
  const added = without(after, before);
  const removed = without(before, after);
  if (added.length > 0) await write('POST', path, { [member]: added });
  if (removed.length > 0) await write('DELETE', path, { [member]: removed });
};

export const changeAssignees = (target: Target, choice: Choice): Promise<void> =>
  changePeople(issuePath(target, 'assignees'), 'assignees', choice);

// Pull requests

export const changeReviewers = ({ place, number }: Target, choice: Choice): Promise<void> =>
  changePeople(pathOf(place, 'pulls', number, 'requested_reviewers'), 'reviewers', choice);

export type ReviewEvent = 'COMMENT' | 'APPROVE' | 'REQUEST_CHANGES';

export const addReview = ({ place, number }: Target, event: ReviewEvent, body: string) =>
  write('POST', pathOf(place, 'pulls', number, 'reviews'), { event, body });

export type MergeMethod = 'merge' | 'squash' | 'rebase';

/**
 * Merges the pull request. `sha` is the commit that the user has seen: if commits were pushed later, the vendor refuses
 * the merge.
 */
export const mergePull = ({ place, number }: Target, merge_method: MergeMethod, sha: string) =>
  write('PUT', pathOf(place, 'pulls', number, 'merge'), { merge_method, sha });

export const deleteBranch = ({ place }: Target, branch: string) =>
  write('DELETE', `${pathOf(place, 'git', 'refs', 'heads')}/${pathOfBranch(branch)}`);
