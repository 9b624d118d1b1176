/** Mutations of the pages. A change is shown only after the vendor has confirmed it. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useAnnounce } from '../../pieces/announce.tsx';
import { ask, markupPathOf, pathOf } from './vendor.ts';

/**
 * Returns a mutation. After it succeeds, it announces the text `done` and reloads everything that is shown, since
 * nearly all of it may have changed.
 */
export const useAct = <Input, Output = unknown>(
  act: (input: Input) => Promise<Output>,
  done: string | ((input: Input) => string),
) => {
  const client = useQueryClient();
  const announce = useAnnounce();
  return useMutation<Output, Error, Input>({
    mutationFn: act,
    onSettled: () => client.invalidateQueries(),
    onSuccess: (_, input) => announce(typeof done === 'string' ? done : done(input)),
  });
};

export type Fields = Record<string, unknown>;

export const editIssue = (key: string, fields: Fields): Promise<unknown> =>
  ask('PUT', pathOf('issue', key), { fields });

/** Changes the description of an issue; the new description is markup. */
export const describe = (key: string, description: string): Promise<unknown> =>
  ask('PUT', markupPathOf('issue', key), { fields: { description } });

/** Creates an issue. Its description is markup. */
export const createIssue = (fields: Fields): Promise<{ key: string }> =>
  ask('POST', markupPathOf('issue'), { fields });

export const deleteIssue = (key: string): Promise<unknown> => ask('DELETE', pathOf('issue', key));

/** Assigns the issue to an account; null removes the assignee. */
export const assignIssue = (key: string, accountId: string | null): Promise<unknown> =>
  ask('PUT', pathOf('issue', key, 'assignee'), { accountId });

export type Step = { key: string; transition: string; fields?: Fields };

export const moveIssue = ({ key, transition, fields }: Step): Promise<unknown> =>
  ask('POST', pathOf('issue', key, 'transitions'), {
    transition: { id: transition },
    ...(fields === undefined ? {} : { fields }),
  });

export const addComment = (key: string, body: string): Promise<unknown> =>
  ask('POST', markupPathOf('issue', key, 'comment'), { body });

export const updateComment = (key: string, id: string, body: string): Promise<unknown> =>
  ask('PUT', markupPathOf('issue', key, 'comment', id), { body });

export const deleteComment = (key: string, id: string): Promise<unknown> =>
  ask('DELETE', pathOf('issue', key, 'comment', id));

export type NewWork = { timeSpent: string; comment?: string; started?: string };

export const addWork = (key: string, work: NewWork): Promise<unknown> =>
  ask('POST', markupPathOf('issue', key, 'worklog'), work);

export const deleteWork = (key: string, id: string): Promise<unknown> =>
  ask('DELETE', pathOf('issue', key, 'worklog', id));

/** Link to create. It means that the issue `from` does to the issue `to` what the link type's `outward` says. */
export type NewLink = { type: string; from: string; to: string };

export const linkIssues = ({ type, from, to }: NewLink): Promise<unknown> =>
  ask('POST', pathOf('issueLink'), {
    type: { name: type },
    inwardIssue: { key: from },
    outwardIssue: { key: to },
  });

export const unlink = (id: string): Promise<unknown> => ask('DELETE', pathOf('issueLink', id));

/** Adds or removes the viewer as a watcher of an issue. */
export const watch = (key: string, accountId: string, isWatching: boolean): Promise<unknown> =>
  isWatching
    ? ask('POST', pathOf('issue', key, 'watchers'), accountId)
    : ask('DELETE', `${pathOf('issue', key, 'watchers')}?${new URLSearchParams({ accountId })}`);

export const vote = (key: string, isVoting: boolean): Promise<unknown> =>
  ask(isVoting ? 'POST' : 'DELETE', pathOf('issue', key, 'votes'));

export const createVersion = (fields: Fields): Promise<unknown> =>
  ask('POST', pathOf('version'), fields);

export const updateVersion = (id: string, fields: Fields): Promise<unknown> =>
  ask('PUT', pathOf('version', id), fields);
