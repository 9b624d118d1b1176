/** Header of an issue or a pull request: its title, which can be edited, and its state. */
import { type ReactNode, useId, useState } from 'react';
import { When } from '../../pieces/when.tsx';
import type { Issue } from '../api/bodies.ts';
import { type Target, updateIssue, useAct } from '../api/writing.ts';
import { loginOf, StandingMark, standingOf } from '../parts/marks.tsx';
import { faultAt, Refusal } from '../parts/refusal.tsx';

type HeadProps = { issue: Issue; target: Target; mayWrite: boolean; children?: ReactNode };

const TitleForm = ({
  issue,
  target,
  onClose,
}: Omit<HeadProps, 'mayWrite'> & { onClose(): void }) => {
  const id = useId();
  const [title, setTitle] = useState(issue.title);
  const saving = useAct(target, (next: string) => updateIssue(target, { title: next }), 'Renamed.');
  const fault = faultAt(saving.error, 'title');
  return (
    <form
      className="title-form"
      onSubmit={(event) => {
        event.preventDefault();
        if (title === issue.title) onClose();
        else saving.mutate(title, { onSuccess: onClose });
      }}
    >
      <label htmlFor={id} className="off-screen">
        Title
      </label>
      <input
        id={id}
        value={title}
        // biome-ignore lint/a11y/noAutofocus: what was asked for is to write here
        autoFocus
        aria-invalid={fault !== undefined}
        onChange={({ target: input }) => setTitle(input.value)}
        onKeyDown={({ key }) => key === 'Escape' && onClose()}
      />
      <button type="submit" className="primary" disabled={saving.isPending}>
        {saving.isPending ? 'Saving…' : 'Save'}
      </button>
      <button type="button" onClick={onClose}>
        Cancel
      </button>
      <Refusal error={saving.error} />
    </form>
  );
};

export const IssueHead = ({ issue, target, mayWrite, children }: HeadProps) => {
  const [isEditing, setEditing] = useState(false);
  const reason = issue.state_reason;
  return (
    <div className="issue-head">
      {isEditing ? (
        <TitleForm issue={issue} target={target} onClose={() => setEditing(false)} />
      ) : (
        <div className="issue-title">
          <h1>
            {issue.title} <span className="issue-number">#{issue.number}</span>
          </h1>
          {mayWrite ? (
            <button type="button" aria-label="Edit title" onClick={() => setEditing(true)}>
              Edit
            </button>
          ) : null}
        </div>
      )}
      <p className="issue-standing">
        <StandingMark standing={standingOf(issue)} />
        {issue.state === 'closed' && reason !== null && reason !== 'completed' ? (
          <span>as {reason.replaceAll('_', ' ')}</span>
        ) : null}
        {issue.locked ? <span className="choice">Locked</span> : null}
        {children ?? (
          <span>
            opened by <b>{loginOf(issue.user)}</b>, <When at={issue.created_at} />
          </span>
        )}
      </p>
    </div>
  );
};
