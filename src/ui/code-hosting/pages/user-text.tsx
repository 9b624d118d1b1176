/**
 * Shows a text that a user wrote: the description of an issue, a comment or a review. Its author, and other users with
 * the right, can edit it here.
 */
import { type ReactNode, useState } from 'react';
import { When } from '../../pieces/when.tsx';
import type { User } from '../api/bodies.ts';
import { type Target, useAct } from '../api/writing.ts';
import { Editor } from '../parts/editor.tsx';
import { Markdown } from '../parts/markdown.tsx';
import { loginOf, Person } from '../parts/marks.tsx';
import { faultAt, Refusal } from '../parts/refusal.tsx';

type UserTextProps = {
  target: Target;
  by: User | null | undefined;
  at: string | undefined;
  text: string | null;
  /** Verb for the event that created the text, such as `commented`. */
  did: string;
  /** Saves an edited text. Undefined if the viewer may not edit it. */
  save?: ((text: string) => Promise<unknown>) | undefined;
  children?: ReactNode;
};

type EditProps = {
  target: Target;
  text: string;
  save(text: string): Promise<unknown>;
  onClose(): void;
};

const EditForm = ({ target, text: before, save, onClose }: EditProps) => {
  const [text, setText] = useState(before);
  const saving = useAct(target, save, 'Saved.');
  const send = () => saving.mutate(text, { onSuccess: onClose });
  return (
    <form
      className="said-form"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <Editor
        label="Text"
        text={text}
        onChange={setText}
        place={target.place}
        rows={8}
        autoFocus
        fault={faultAt(saving.error, 'body')}
        onSend={send}
        onLeave={onClose}
      />
      <Refusal error={saving.error} elsewhere={['body']} />
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

export const UserText = ({ target, by, at, text, did, save, children }: UserTextProps) => {
  const [isEditing, setEditing] = useState(false);
  return (
    <article className="said" aria-label={`${loginOf(by)} ${did}`}>
      <header className="said-head">
        <Person user={by} />
        <span className="said-when">
          {did} <When at={at} />
        </span>
        {save === undefined || isEditing ? null : (
          <button type="button" className="plain" onClick={() => setEditing(true)}>
            Edit
          </button>
        )}
      </header>
      {isEditing && save !== undefined ? (
        <EditForm target={target} text={text ?? ''} save={save} onClose={() => setEditing(false)} />
      ) : (
        <div className="said-text">
          <Markdown text={text} place={target.place} />
          {children}
        </div>
      )}
    </article>
  );
};
