/** Comment form, which can also close or reopen the issue. */
import { useState } from 'react';
import type { Issue, Reason } from '../api/bodies.ts';
import { addComment, type Target, updateIssue, useAct } from '../api/writing.ts';
import { Editor } from '../parts/editor.tsx';
import { faultAt, Refusal } from '../parts/refusal.tsx';

const reasons: Record<Reason, string> = {
  completed: 'as completed',
  not_planned: 'as not planned',
  duplicate: 'as duplicate',
};

type ReplyProps = { issue: Issue; target: Target; mayWrite: boolean };

/**
 * Returns the actions of the form. The comment is sent first: if the vendor refuses the comment, the issue is not
 * closed.
 */
const useReply = ({ issue, target }: ReplyProps, reason: Reason, onSaid: () => void) => {
  const isPull = issue.pull_request !== undefined;
  const say = async (text: string): Promise<void> => {
    if (text.trim() === '') return;
    await addComment(target, text);
    onSaid();
  };
  const comment = async (text: string): Promise<void> => {
    await addComment(target, text);
    onSaid();
  };
  const close = async (text: string): Promise<void> => {
    await say(text);
    await updateIssue(target, {
      state: 'closed',
      ...(isPull ? {} : { state_reason: reason }),
    });
  };
  const reopen = async (text: string): Promise<void> => {
    await say(text);
    await updateIssue(target, { state: 'open' });
  };
  return {
    comment: useAct(target, comment, 'Commented.'),
    close: useAct(target, close, 'Closed.'),
    reopen: useAct(target, reopen, 'Reopened.'),
  };
};

export const Reply = (props: ReplyProps) => {
  const { issue, target, mayWrite } = props;
  const [text, setText] = useState('');
  const [reason, setReason] = useState<Reason>('completed');
  const acts = useReply(props, reason, () => setText(''));
  const all = [acts.comment, acts.close, acts.reopen];
  const isPending = all.some((act) => act.isPending);
  const error = all.find((act) => act.error !== null)?.error ?? null;
  const run = (name: keyof typeof acts): void => {
    if (isPending) return;
    for (const act of all) act.reset();
    acts[name].mutate(text);
  };
  const isPull = issue.pull_request !== undefined;
  const isMerged = isPull && issue.pull_request?.merged_at !== null;
  const withComment = text.trim() === '' ? '' : ' with comment';
  const thing = isPull ? 'pull request' : 'issue';
  return (
    <form
      className="reply"
      aria-label="Comment"
      onSubmit={(event) => {
        event.preventDefault();
        run('comment');
      }}
    >
      <Editor
        label="Add a comment"
        text={text}
        onChange={setText}
        place={target.place}
        fault={faultAt(error, 'body')}
        onSend={() => run('comment')}
      />
      <Refusal error={error} elsewhere={['body']} />
      <div className="buttons">
        {mayWrite && issue.state === 'open' ? (
          <span className="close-as">
            <button type="button" disabled={isPending} onClick={() => run('close')}>
              {isPull || withComment !== '' ? `Close${withComment || ` ${thing}`}` : 'Close issue'}
            </button>
            {isPull ? null : (
              <select
                aria-label="Reason"
                value={reason}
                onChange={({ target: select }) => setReason(select.value as Reason)}
              >
                {Object.entries(reasons).map(([value, words]) => (
                  <option key={value} value={value}>
                    {words}
                  </option>
                ))}
              </select>
            )}
          </span>
        ) : null}
        {mayWrite && issue.state === 'closed' && !isMerged ? (
          <button type="button" disabled={isPending} onClick={() => run('reopen')}>
            {withComment === '' ? `Reopen ${thing}` : `Reopen${withComment}`}
          </button>
        ) : null}
        <button type="submit" className="primary" disabled={isPending}>
          {isPending ? 'Sending…' : 'Comment'}
        </button>
      </div>
    </form>
  );
};
