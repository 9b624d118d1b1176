/** What the pages change. Nothing is shown as done before the vendor has said so. */
import { type QueryClient, useMutation, useQueryClient } from '@tanstack/react-query';
import { useAnnounce } from '../../pieces/announce.tsx';
import type { Choice } from '../../pieces/picker.tsx';
import type { Issue, Reason } from './bodies.ts';
import { type Place, pathOf, pathOfBranch, write } from './vendor.ts';

/** An issue, or the issue that a pull request is. */
export type Target = { place: Place; number: number };

/** Whatever may show the issue is read anew. */
const forget = (client: QueryClient, { place, number }: Target): Promise<unknown> => {
  const about = ['issue', 'timeline', 'pull', 'reviews', 'review comments', 'commits', 'files'];
  const shown = about.map((what) => client.invalidateQueries({ queryKey: [what, place, number] }));
  const lists = ['list', 'checks', 'branch'].map((what) =>
    client.invalidateQueries({ queryKey: [what, place] }),
  );
  return Promise.all([...shown, ...lists]);
};

/** Does something to an issue, then shows what has become of it and says `done`. */
export const useAct = <Input>(
  target: Target,
  act: (input: Input) => Promise<unknown>,
  done: string,
) => {
  const client = useQueryClient();
  const announce = useAnnounce();
  return useMutation<unknown, Error, Input>({
    mutationFn: act,
    // Also after a refusal: one of several steps may have been done.
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

/** Of logins at a path that takes some by POST, and some away by DELETE. */
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

/** `sha` is the commit that was looked at: what came later is not merged unseen. */
export const mergePull = ({ place, number }: Target, merge_method: MergeMethod, sha: string) =>
  write('PUT', pathOf(place, 'pulls', number, 'merge'), { merge_method, sha });

export const deleteBranch = ({ place }: Target, branch: string) =>
  write('DELETE', `${pathOf(place, 'git', 'refs', 'heads')}/${pathOfBranch(branch)}`);
