/** Editor for text in the tracker's markup. Ctrl+Enter submits, Escape cancels. */
import { useId } from 'react';
import { Writing, WritingFault } from '../../pieces/writing.tsx';

type EditorProps = {
  label: string;
  text: string;
  onChange: (text: string) => void;
  rows?: number;
  fault?: string | undefined;
  autoFocus?: boolean;
  onSend?: () => void;
  onLeave?: () => void;
};

export const Editor = (props: EditorProps) => {
  const { label, text, onChange, rows = 4, fault, autoFocus, onSend, onLeave } = props;
  const id = useId();
  return (
    <div className="editor">
      <div className="editor-head">
        <label htmlFor={id}>{label}</label>
        <span className="hint editor-hint" id={`${id}-hint`}>
          *bold* _italic_ {'{{code}}'} · h2. heading · * list · [name|https://…]
        </span>
      </div>
      <Writing
        {...{ id, text, onChange, rows, fault, onSend, onLeave, autoFocus }}
        hint={`${id}-hint`}
      />
      <WritingFault id={id} fault={fault} />
    </div>
  );
};
