/** Editor for Markdown with a preview. Ctrl+Enter submits. */
import { type ReactNode, useId, useState } from 'react';
import { Writing, WritingFault } from '../../pieces/writing.tsx';
import type { Place } from '../api/vendor.ts';
import { Markdown } from './markdown.tsx';

type EditorProps = {
  label: string;
  text: string;
  onChange: (text: string) => void;
  place: Place;
  rows?: number;
  fault?: string | undefined;
  autoFocus?: boolean;
  onSend: () => void;
  onLeave?: () => void;
  /** Content in the row of the two buttons that switch between writing and preview. */
  children?: ReactNode;
};

export const Editor = (props: EditorProps) => {
  const { label, text, onChange, place, rows = 5, fault, autoFocus, onSend, onLeave } = props;
  const id = useId();
  const [isShown, setShown] = useState(false);
  const tab = (name: string, shows: boolean) => (
    <button
      type="button"
      className="tab"
      aria-pressed={isShown === shows}
      onClick={() => setShown(shows)}
    >
      {name}
    </button>
  );
  return (
    <div className="editor">
      <div className="editor-head">
        <label htmlFor={id}>{label}</label>
        {tab('Write', false)}
        {tab('Preview', true)}
      </div>
      {isShown ? (
        <div className="preview">
          <Markdown text={text} place={place} />
        </div>
      ) : (
        <Writing {...{ id, text, onChange, rows, fault, onSend, onLeave, autoFocus }} />
      )}
      <WritingFault id={id} fault={fault} />
    </div>
  );
};
