/** Form for a review of a whole pull request. */
import { useState } from 'react';
import { addReview, type ReviewEvent, type Target, useAct } from '../api/writing.ts';
import { Editor } from '../parts/editor.tsx';
import { faultAt, Refusal } from '../parts/refusal.tsx';

const events: Record<ReviewEvent, string> = {
  COMMENT: 'Comment',
  APPROVE: 'Approve',
  REQUEST_CHANGES: 'Request changes',
};

export const ReviewForm = ({ target }: { target: Target }) => {
  const [event, setEvent] = useState<ReviewEvent>('COMMENT');
  const [text, setText] = useState('');
  const act = useAct(target, () => addReview(target, event, text), 'Reviewed.');
  const send = (): void => {
    if (!act.isPending) act.mutate(undefined, { onSuccess: () => setText('') });
  };
  return (
    <form
      className="reply"
      aria-label="Review"
      onSubmit={(submit) => {
        submit.preventDefault();
        send();
      }}
    >
      <Editor
        label="Review these changes"
        text={text}
        onChange={setText}
        place={target.place}
        rows={3}
        fault={faultAt(act.error, 'body')}
        onSend={send}
      />
      <Refusal error={act.error} elsewhere={['body']} />
      <div className="buttons">
        <fieldset className="choices">
          <legend className="off-screen">Verdict</legend>
          {Object.entries(events).map(([value, words]) => (
            <label key={value}>
              <input
                type="radio"
                name="verdict"
                value={value}
                checked={event === value}
                onChange={() => setEvent(value as ReviewEvent)}
              />
              {words}
            </label>
          ))}
        </fieldset>
        <button type="submit" className="primary" disabled={act.isPending}>
          {act.isPending ? 'Sending…' : 'Submit review'}
        </button>
      </div>
    </form>
  );
};
