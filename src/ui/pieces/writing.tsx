/** Text area for longer texts. Ctrl+Enter submits, Escape cancels. */
type WritingProps = {
  id: string;
  text: string;
  onChange: (text: string) => void;
  rows: number;
  fault: string | undefined;
  /** Id of the element that describes the syntax, if there is one. */
  hint?: string;
  autoFocus?: boolean | undefined;
  onSend?: (() => void) | undefined;
  onLeave?: (() => void) | undefined;
};

const faultOf = (id: string): string => `${id}-fault`;

export const Writing = ({ id, text, fault, hint, ...props }: WritingProps) => (
  <textarea
    id={id}
    rows={props.rows}
    value={text}
    // biome-ignore lint/a11y/noAutofocus: what was asked for is to write here
    autoFocus={props.autoFocus}
    aria-invalid={fault !== undefined}
    aria-describedby={fault === undefined ? hint : faultOf(id)}
    onChange={({ target }) => props.onChange(target.value)}
    onKeyDown={(event) => {
      if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) props.onSend?.();
      if (event.key === 'Escape') props.onLeave?.();
    }}
  />
);

/** Shows the error of the text. */
export const WritingFault = ({ id, fault }: Pick<WritingProps, 'id' | 'fault'>) =>
  fault === undefined ? null : (
    <p id={faultOf(id)} className="fault">
      {fault}
    </p>
  );
