/** Parts of an issue: its description, sub-tasks, attachments, and linked issues. */
import { Link as To } from '@tanstack/react-router';
import { useState } from 'react';
import type { Issue, Link, ShortIssue } from '../api/bodies.ts';
import { useLinkTypes, useMarkup } from '../api/reading.ts';
import { faultsOf } from '../api/vendor.ts';
import { describe, linkIssues, unlink, useAct } from '../api/writing.ts';
import { Dialog } from '../parts/dialog.tsx';
import { Editor } from '../parts/editor.tsx';
import { IssueChoice } from '../parts/issue-choice.tsx';
import { IssueLine } from '../parts/marks.tsx';
import { Refusal } from '../parts/refusal.tsx';
import { RichText } from '../parts/rich-text.tsx';
import { isMarkup } from '../text/rich-text.ts';

type Props = { issue: Issue };

const DescriptionForm = ({
  issue,
  before,
  onClose,
}: Props & { before: string; onClose(): void }) => {
  const [text, setText] = useState(before);
  const saving = useAct(() => describe(issue.key, text), 'Description changed.');
  const save = () => saving.mutate(undefined, { onSuccess: onClose });
  return (
    <form
      className="reply"
      onSubmit={(event) => {
        event.preventDefault();
        save();
      }}
    >
      <Editor
        label="Description"
        text={text}
        rows={10}
        autoFocus
        onChange={setText}
        onSend={save}
        onLeave={onClose}
        fault={faultsOf(saving.error).description}
      />
      {isMarkup(issue.fields.description) ? null : (
        <p className="hint">
          Tables, panels and nested lists become plain text when this is saved.
        </p>
      )}
      <Refusal error={saving.error} elsewhere={['description']} />
      <div className="buttons">
        <button type="button" onClick={onClose}>
          Cancel
        </button>
        <button type="submit" className="primary" disabled={saving.isPending}>
          {saving.isPending ? 'Saving…' : 'Save'}
        </button>
      </div>
    </form>
  );
};

export const Description = ({ issue }: Props) => {
  const [isOpen, setOpen] = useState(false);
  const { data, error } = useMarkup(issue.key, isOpen);
  return (
    <section aria-labelledby="description">
      <div className="part-head">
        <h2 id="description">Description</h2>
        {isOpen ? null : (
          <button
            type="button"
            className="plain"
            aria-label="Edit description"
            onClick={() => setOpen(true)}
          >
            Edit
          </button>
        )}
      </div>
      <Refusal error={error} />
      {isOpen && data !== undefined ? (
        <DescriptionForm
          issue={issue}
          before={data.fields.description ?? ''}
          onClose={() => setOpen(false)}
        />
      ) : (
        <RichText document={issue.fields.description} />
      )}
    </section>
  );
};

export const Subtasks = ({ issue: { key, fields } }: Props) => {
  if (fields.issuetype.subtask) return null;
  return (
    <section aria-labelledby="subtasks">
      <div className="part-head">
        <h2 id="subtasks">Sub-tasks</h2>
        <To
          to="/create"
          search={{ project: fields.project.key, parent: key }}
          aria-label="Add a sub-task"
        >
          Add
        </To>
      </div>
      {fields.subtasks.length === 0 ? (
        <p className="nothing">None</p>
      ) : (
        <ul className="items lines">
          {fields.subtasks.map((one) => (
            <li className="item" key={one.key}>
              <IssueLine issue={one} />
            </li>
          ))}
        </ul>
      )}
    </section>
  );
};

const sizeOf = (bytes: number): string =>
  bytes < 1_024 ? `${bytes} bytes` : `${Math.round(bytes / 1_024).toLocaleString('en')} KiB`;

/** Shows attachments by name. The tracker does not serve their contents. */
export const Attachments = ({ issue }: Props) => {
  const { attachment } = issue.fields;
  if (attachment.length === 0) return null;
  return (
    <section aria-labelledby="attachments">
      <div className="part-head">
        <h2 id="attachments">Attachments</h2>
      </div>
      <ul className="items lines">
        {attachment.map(({ id, filename, size, mimeType }) => (
          <li className="item" key={id}>
            <span className="line-summary">{filename}</span>
            <span className="item-count">
              {mimeType}, {sizeOf(size)}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
};

/**
 * Returns the description of a link, and the issue at its other end. `outward` says what the first issue does to the
 * second; `inward` is the reverse.
 */
const endOf = ({ type, inwardIssue, outwardIssue }: Link): [string, ShortIssue | undefined] =>
  outwardIssue === undefined ? [type.inward, inwardIssue] : [type.outward, outwardIssue];

const LinkDialog = ({ issueKey, onClose }: { issueKey: string; onClose: () => void }) => {
  const { data } = useLinkTypes();
  const [other, setOther] = useState('');
  const linking = useAct(linkIssues, 'Linked.');
  const ways = (data?.issueLinkTypes ?? []).flatMap(({ name, inward, outward }) => [
    { value: `out ${name}`, words: outward },
    ...(inward === outward ? [] : [{ value: `in ${name}`, words: inward }]),
  ]);
  return (
    <Dialog
      title={`Link ${issueKey}`}
      act="Link"
      isPending={linking.isPending}
      onClose={onClose}
      onAct={(form) => {
        const [way, ...name] = String(new FormData(form).get('way')).split(' ');
        const to = other.trim().toUpperCase();
        const ends = way === 'out' ? { from: issueKey, to } : { from: to, to: issueKey };
        linking.mutate({ type: name.join(' '), ...ends }, { onSuccess: onClose });
      }}
    >
      <label className="line-field">
        This issue
        <select name="way" required>
          {ways.map(({ value, words }) => (
            <option key={value} value={value}>
              {words}
            </option>
          ))}
        </select>
      </label>
      <IssueChoice label="Issue" value={other} onChange={setOther} />
      <Refusal error={linking.error} />
    </Dialog>
  );
};

export const Links = ({ issue }: Props) => {
  const [isOpen, setOpen] = useState(false);
  const removing = useAct(unlink, 'The link is removed.');
  const { issuelinks } = issue.fields;
  return (
    <section aria-labelledby="links">
      <div className="part-head">
        <h2 id="links">Linked issues</h2>
        <button
          type="button"
          className="plain"
          aria-label="Link an issue"
          onClick={() => setOpen(true)}
        >
          Link
        </button>
      </div>
      {issuelinks.length === 0 ? (
        <p className="nothing">None</p>
      ) : (
        <ul className="items lines">
          {issuelinks.map((link) => {
            const [words, other] = endOf(link);
            return other === undefined ? null : (
              <li className="item" key={link.id}>
                <span className="line-words">{words}</span>
                <IssueLine issue={other} />
                <button
                  type="button"
                  className="plain"
                  aria-label={`Remove the link to ${other.key}`}
                  disabled={removing.isPending}
                  onClick={() => removing.mutate(link.id)}
                >
                  Remove
                </button>
              </li>
            );
          })}
        </ul>
      )}
      <Refusal error={removing.error} />
      {isOpen ? <LinkDialog issueKey={issue.key} onClose={() => setOpen(false)} /> : null}
    </section>
  );
};
