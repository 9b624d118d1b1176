/** Modal form in a native dialog of the browser, which traps the focus and closes on Escape. */
import { type FormEvent, type ReactNode, useEffect, useId, useRef } from 'react';

type DialogProps = {
  title: string;
  /** Text of the submit button. */
  act: string;
  isPending: boolean;
  onAct: (form: HTMLFormElement) => void;
  onClose: () => void;
  children: ReactNode;
};

export const Dialog = ({ title, act, isPending, onAct, onClose, children }: DialogProps) => {
  const id = useId();
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    dialog.current?.showModal();
  }, []);
  return (
    <dialog ref={dialog} className="picker" aria-labelledby={id} onClose={onClose}>
      <form
        onSubmit={(event: FormEvent<HTMLFormElement>) => {
          event.preventDefault();
          onAct(event.currentTarget);
        }}
      >
        <h2 id={id} className="sheet-title">
          {title}
        </h2>
        <div className="dialog-fields">{children}</div>
        <div className="actions">
          <button type="button" onClick={() => dialog.current?.close()}>
            Cancel
          </button>
          <button type="submit" className="primary" disabled={isPending}>
            {isPending ? 'Saving…' : act}
          </button>
        </div>
      </form>
    </dialog>
  );
};
