/** Header of an issue: its project, its summary, which can be edited, and its status. */
import { Link, useNavigate } from '@tanstack/react-router';
import { useId, useState } from 'react';
import { CopyText } from '../../pieces/copy.tsx';
import type { Issue } from '../api/bodies.ts';
import { faultsOf } from '../api/vendor.ts';
import { deleteIssue, editIssue, useAct } from '../api/writing.ts';
import { Dialog } from '../parts/dialog.tsx';
import { categoryOf, PriorityMark, TypeMark } from '../parts/marks.tsx';
import { MoveDialog } from '../parts/move.tsx';
import { Refusal } from '../parts/refusal.tsx';

const SummaryForm = ({ issue, onClose }: { issue: Issue; onClose: () => void }) => {
  const id = useId();
  const [summary, setSummary] = useState(issue.fields.summary);
  const saving = useAct(() => editIssue(issue.key, { summary }), 'Renamed.');
  return (
    <form
      className="title-form"
      onSubmit={(event) => {
        event.preventDefault();
        if (summary === issue.fields.summary) onClose();
        else saving.mutate(undefined, { onSuccess: onClose });
      }}
    >
      <label htmlFor={id} className="off-screen">
        Summary
      </label>
      <input
        id={id}
        value={summary}
        // biome-ignore lint/a11y/noAutofocus: what was asked for is to write here
        autoFocus
        aria-invalid={faultsOf(saving.error).summary !== undefined}
        onChange={({ target }) => setSummary(target.value)}
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

const Crumbs = ({ issue: { key, fields } }: { issue: Issue }) => (
  <p className="repository-name">
    <Link to="/projects/$project/board" params={{ project: fields.project.key }}>
      {fields.project.name}
    </Link>
    <span aria-hidden="true">/</span>
    {fields.parent === undefined ? null : (
      <>
        <Link to="/browse/$key" params={{ key: fields.parent.key }}>
          {fields.parent.key}
        </Link>
        <span aria-hidden="true">/</span>
      </>
    )}
    <CopyText text={key} />
  </p>
);

const DeleteDialog = ({ issue, onClose }: { issue: Issue; onClose: () => void }) => {
  const navigate = useNavigate();
  const { key, fields } = issue;
  const deleting = useAct(async () => {
    await deleteIssue(key);
    await navigate({ to: '/projects/$project/issues', params: { project: fields.project.key } });
  }, `${key} is deleted.`);
  return (
    <Dialog
      title={`Delete ${key}?`}
      act="Delete"
      isPending={deleting.isPending}
      onAct={() => deleting.mutate(undefined)}
      onClose={onClose}
    >
      <p>Its comments, work and links go with it. This cannot be undone.</p>
      <Refusal error={deleting.error} />
    </Dialog>
  );
};

export const IssueHead = ({ issue }: { issue: Issue }) => {
  const [isOpen, setOpen] = useState<'summary' | 'move' | 'delete'>();
  const { key, fields } = issue;
  const close = () => setOpen(undefined);
  return (
    <div className="issue-head">
      <Crumbs issue={issue} />
      {isOpen === 'summary' ? (
        <SummaryForm issue={issue} onClose={close} />
      ) : (
        <div className="issue-title">
          <h1>{fields.summary}</h1>
          <span className="buttons">
            <button type="button" aria-label="Edit summary" onClick={() => setOpen('summary')}>
              Edit
            </button>
            <button
              type="button"
              className="danger"
              aria-label="Delete issue"
              onClick={() => setOpen('delete')}
            >
              Delete
            </button>
          </span>
        </div>
      )}
      <div className="issue-standing">
        <button
          type="button"
          className={`status-button ${categoryOf(fields.status)}`}
          aria-label={`Status ${fields.status.name}: move`}
          onClick={() => setOpen('move')}
        >
          {fields.status.name} <span aria-hidden="true">▾</span>
        </button>
        {fields.resolution === null ? null : <span>as {fields.resolution.name}</span>}
        <TypeMark type={fields.issuetype} />
        <PriorityMark priority={fields.priority} />
      </div>
      {isOpen === 'move' ? <MoveDialog issueKey={key} onClose={close} /> : null}
      {isOpen === 'delete' ? <DeleteDialog issue={issue} onClose={close} /> : null}
    </div>
  );
};
