/** What the pages change. Nothing is shown as done before the vendor has said so. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useAnnounce } from '../../pieces/announce.tsx';
import { ask, markupPathOf, pathOf } from './vendor.ts';

/** Does something, says `done`, and reads anew whatever is shown: nearly all of it may tell of it. */
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

/** The description is markup. */
export const describe = (key: string, description: string): Promise<unknown> =>
  ask('PUT', markupPathOf('issue', key), { fields: { description } });

/** The description is markup. */
export const createIssue = (fields: Fields): Promise<{ key: string }> =>
  ask('POST', markupPathOf('issue'), { fields });

export const deleteIssue = (key: string): Promise<unknown> => ask('DELETE', pathOf('issue', key));

/** To nobody without an account. */
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

/** The first issue is the one that does to the other what the type's `outward` says. */
export type NewLink = { type: string; from: string; to: string };

export const linkIssues = ({ type, from, to }: NewLink): Promise<unknown> =>
  ask('POST', pathOf('issueLink'), {
    type: { name: type },
    inwardIssue: { key: from },
    outwardIssue: { key: to },
  });

export const unlink = (id: string): Promise<unknown> => ask('DELETE', pathOf('issueLink', id));

/** Whether the viewer is told of an issue. */
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
