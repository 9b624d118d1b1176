/** Dialog of the page in the browser (`alert`, `confirm`, `prompt`), for viewers who may answer it. */
import { useEffect, useRef, useState } from 'react';
import type { ViewInput, ViewMessage } from '#wire/live-view/messages.ts';

export type Asked = Extract<ViewMessage, { type: 'dialog' }>;

type QuestionProps = { asked: Asked; answer: (input: ViewInput) => void };

export const Question = ({ asked: { kind, message, initial }, answer }: QuestionProps) => {
  const dialog = useRef<HTMLDialogElement>(null);
  const [text, setText] = useState(initial);
  useEffect(() => dialog.current?.showModal(), []);
  const end = (isAccepted: boolean): void =>
    answer({ type: 'dialog', isAccepted, ...(kind === 'prompt' ? { text } : {}) });
  return (
    <dialog
      ref={dialog}
      className="question"
      aria-labelledby="question-text"
      onCancel={(event) => {
        event.preventDefault();
        end(kind === 'alert');
      }}
    >
      <p id="question-text">{message}</p>
      {kind === 'prompt' ? (
        <input
          aria-label="Answer"
          value={text}
          onChange={({ target }) => setText(target.value)}
          onKeyDown={({ key }) => key === 'Enter' && end(true)}
        />
      ) : null}
      <div className="answers">
        {kind === 'alert' ? null : (
          <button type="button" onClick={() => end(false)}>
            Cancel
          </button>
        )}
        <button type="button" className="primary" onClick={() => end(true)}>
          OK
        </button>
      </div>
    </dialog>
  );
};
