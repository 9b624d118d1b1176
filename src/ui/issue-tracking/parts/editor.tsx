/** A place to write a text in the tracker's markup. Ctrl+Enter sends it, Escape leaves it. */
import { useId } from 'react';

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
  const { label, text, onChange, rows = 4, fault, onSend, onLeave } = props;
  const id = useId();
  return (
    <div className="editor">
      <div className="editor-head">
        <label htmlFor={id}>{label}</label>
        <span className="hint editor-hint" id={`${id}-hint`}>
          *bold* _italic_ {'{{code}}'} · h2. heading · * list · [name|https://…]
        </span>
      </div>
      <textarea
        id={id}
        rows={rows}
        value={text}
        // biome-ignore lint/a11y/noAutofocus: what was asked for is to write here
        autoFocus={props.autoFocus}
        aria-invalid={fault !== undefined}
        aria-describedby={fault === undefined ? `${id}-hint` : `${id}-fault`}
        onChange={({ target }) => onChange(target.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) onSend?.();
          if (event.key === 'Escape') onLeave?.();
        }}
      />
      {fault === undefined ? null : (
        <p id={`${id}-fault`} className="fault">
          {fault}
        </p>
      )}
    </div>
  );
};
