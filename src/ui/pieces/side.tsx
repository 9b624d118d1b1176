/** Section of an issue's sidebar: its values, and a dialog to change them. */
import { type ReactNode, useId, useState } from 'react';
import { type Choice, type Option, Picker } from './picker.tsx';

type SideProps = {
  title: string;
  /** Text shown if there are no values. */
  none: string;
  children: ReactNode[] | ReactNode;
  /** Dialog to change the values; undefined if the viewer may not change them. */
  edit?:
    | {
        options: readonly Option[] | undefined;
        chosen: readonly string[];
        isSingle?: boolean;
        isPending: boolean;
        /** Error of the last change, if it was refused. */
        refusal?: ReactNode;
        onApply: (choice: Choice) => void;
      }
    | undefined;
};

const isSame = ({ before, after }: Choice): boolean =>
  before.length === after.length && before.every((one) => after.includes(one));

export const Side = ({ title, none, children, edit }: SideProps) => {
  const id = useId();
  const [isOpen, setOpen] = useState(false);
  const isEmpty = Array.isArray(children) && children.length === 0;
  return (
    <section className="side-section" aria-labelledby={id}>
      <div className="side-head">
        <h2 id={id}>{title}</h2>
        {edit === undefined ? null : (
          <button
            type="button"
            className="plain"
            aria-label={`Edit ${title.toLowerCase()}`}
            disabled={edit.isPending}
            onClick={() => setOpen(true)}
          >
            {edit.isPending ? 'Saving…' : 'Edit'}
          </button>
        )}
      </div>
      <div className="side-values">
        {isEmpty ? <span className="nothing">{none}</span> : children}
      </div>
      {edit?.refusal}
      {edit !== undefined && isOpen ? (
        <Picker
          title={title}
          options={edit.options}
          chosen={edit.chosen}
          isSingle={edit.isSingle ?? false}
          onClose={() => setOpen(false)}
          onApply={(choice) => {
            if (!isSame(choice)) edit.onApply(choice);
          }}
        />
      ) : null}
    </section>
  );
};
