/**
 * Dialog to choose some of many options: the user searches, ticks or unticks options, and applies all changes at once.
 * It is a native dialog of the browser, which traps the focus, closes on Escape and restores the focus.
 */
import { type ReactNode, useEffect, useId, useRef, useState } from 'react';
import { Loading } from './states.tsx';

/** Selection before the dialog and after it. Both are needed, since other users may change the values meanwhile. */
export type Choice = { before: readonly string[]; after: readonly string[] };

/** Option of a picker. `mark` is displayed, `name` is searched. */
export type Option = { value: string; name: string; mark: ReactNode; hint?: string | null };

type PickerProps = {
  title: string;
  options: readonly Option[] | undefined;
  chosen: readonly string[];
  /** True if only one option can be chosen. */
  isSingle?: boolean;
  onApply: (choice: Choice) => void;
  onClose: () => void;
};

const matches = ({ name, hint }: Option, words: string): boolean =>
  `${name} ${hint ?? ''}`.toLowerCase().includes(words.trim().toLowerCase());

const toggle = (chosen: readonly string[], value: string, isSingle: boolean): string[] => {
  if (chosen.includes(value)) return chosen.filter((one) => one !== value);
  return isSingle ? [value] : [...chosen, value];
};

export const Picker = (props: PickerProps) => {
  const { title, options, isSingle = false, onApply, onClose } = props;
  const id = useId();
  const dialog = useRef<HTMLDialogElement>(null);
  const [before] = useState(props.chosen);
  const [chosen, setChosen] = useState(before);
  const [words, setWords] = useState('');
  useEffect(() => {
    dialog.current?.showModal();
  }, []);
  const shown = (options ?? []).filter((option) => matches(option, words));
  return (
    <dialog ref={dialog} className="picker" aria-labelledby={id} onClose={onClose}>
      <form
        method="dialog"
        onSubmit={() => {
          onApply({ before, after: chosen });
        }}
      >
        <h2 id={id} className="sheet-title">
          {title}
        </h2>
        <div className="picker-search">
          <input
            type="search"
            value={words}
            aria-label={`Find in ${title}`}
            placeholder="Find"
            autoComplete="off"
            onChange={({ target }) => setWords(target.value)}
            onKeyDown={(event) => {
              // Enter ticks the only remaining match of the search, and otherwise applies the choice.
              const [only, ...others] = shown;
              if (event.key !== 'Enter' || words === '' || only === undefined) return;
              event.preventDefault();
              if (others.length > 0 && only.name !== words.trim()) return;
              setChosen((now) => toggle(now, only.value, isSingle));
              setWords('');
            }}
          />
        </div>
        <div className="picker-options">
          {options === undefined ? <Loading what={title.toLowerCase()} /> : null}
          {options !== undefined && shown.length === 0 ? (
            <p className="nothing">Nothing is called so.</p>
          ) : null}
          {shown.map(({ value, name, mark, hint }) => (
            <label key={value} className="picker-option">
              <input
                type="checkbox"
                checked={chosen.includes(value)}
                onChange={() => setChosen((now) => toggle(now, value, isSingle))}
              />
              <span className="picker-name">
                {mark}
                {hint === null || hint === undefined || hint === '' ? null : (
                  <span className="hint">{hint}</span>
                )}
                <span className="off-screen">{typeof mark === 'string' ? '' : ` (${name})`}</span>
              </span>
            </label>
          ))}
        </div>
        <div className="actions">
          <button type="button" onClick={() => dialog.current?.close()}>
            Cancel
          </button>
          <button type="submit" className="primary">
            Apply
          </button>
        </div>
      </form>
    </dialog>
  );
};
