/** Activity of an issue: comments, logged work, and changes. */
import { useState } from 'react';
import { Failure, Loading } from '../../pieces/states.tsx';
import { When } from '../../pieces/when.tsx';
import type { Comment, Work } from '../api/bodies.ts';
import { useChanges, useCommentMarkup, useComments, useWork } from '../api/reading.ts';
import { faultsOf } from '../api/vendor.ts';
import {
  addComment,
  addWork,
  deleteComment,
  deleteWork,
  type NewWork,
  updateComment,
  useAct,
} from '../api/writing.ts';
import { Editor } from '../parts/editor.tsx';
import { nameOf, Person } from '../parts/marks.tsx';
import { Refusal } from '../parts/refusal.tsx';
import { RichText } from '../parts/rich-text.tsx';

type Of = { issueKey: string };

type SayProps = {
  label: string;
  before?: string;
  act: string;
  done: string;
  send: (text: string) => Promise<unknown>;
  onClose?: () => void;
};

const Say = ({ label, before = '', act, done, send, onClose }: SayProps) => {
  const [text, setText] = useState(before);
  const sending = useAct(send, done);
  const go = () => {
    if (sending.isPending) return;
    sending.mutate(text, {
      onSuccess: () => {
        setText('');
        onClose?.();
      },
    });
  };
  return (
    <form
      className="reply"
      onSubmit={(event) => {
        event.preventDefault();
        go();
      }}
    >
      <Editor
        label={label}
        text={text}
        onChange={setText}
        onSend={go}
        autoFocus={onClose !== undefined}
        {...(onClose === undefined ? {} : { onLeave: onClose })}
        fault={faultsOf(sending.error).comment}
      />
      <Refusal error={sending.error} elsewhere={['comment']} />
      <div className="buttons">
        {onClose === undefined ? null : (
          <button type="button" onClick={onClose}>
            Cancel
          </button>
        )}
        <button type="submit" className="primary" disabled={sending.isPending}>
          {sending.isPending ? 'Sending…' : act}
        </button>
      </div>
    </form>
  );
};

const CommentEntry = ({ issueKey, comment }: Of & { comment: Comment }) => {
  const [isOpen, setOpen] = useState(false);
  const { id, author, body, created, updated } = comment;
  const { data, error } = useCommentMarkup(issueKey, id, isOpen);
  const deleting = useAct(() => deleteComment(issueKey, id), 'The comment is deleted.');
  return (
    <li className="said">
      <div className="said-head">
        <Person user={author} />
        <span className="said-when">
          <When at={created} />
          {updated === created ? null : ', edited'}
        </span>
        <button
          type="button"
          className="plain"
          aria-label={`Edit the comment of ${nameOf(author)}`}
          onClick={() => setOpen(true)}
        >
          Edit
        </button>
        <button
          type="button"
          className="plain"
          aria-label={`Delete the comment of ${nameOf(author)}`}
          disabled={deleting.isPending}
          onClick={() => deleting.mutate(undefined)}
        >
          Delete
        </button>
      </div>
      <div className="said-text">
        {isOpen && data !== undefined ? (
          <Say
            label="Comment"
            act="Save"
            done="The comment is changed."
            before={data.body}
            send={(text) => updateComment(issueKey, id, text)}
            onClose={() => setOpen(false)}
          />
        ) : (
          <RichText document={body} none="Nothing." />
        )}
        <Refusal error={error ?? deleting.error} />
      </div>
    </li>
  );
};

/** Shows a button that loads the rest of a list of which only a part is shown. */
const More = ({ shown, total, onMore }: { shown: number; total: number; onMore: () => void }) =>
  shown >= total ? null : (
    <button type="button" onClick={onMore}>
      Show more of {total.toLocaleString('en')}
    </button>
  );

const Comments = ({ issueKey }: Of) => {
  const [pages, setPages] = useState(1);
  const { data, error, refetch } = useComments(issueKey, pages);
  if (error !== null) return <Failure error={error} retry={() => void refetch()} />;
  if (data === undefined) return <Loading what="comments" />;
  return (
    <>
      <ol className="timeline plain-list">
        {data.comments.map((comment) => (
          <CommentEntry key={comment.id} issueKey={issueKey} comment={comment} />
        ))}
      </ol>
      <More
        shown={data.comments.length}
        total={data.total}
        onMore={() => setPages((now) => now + 1)}
      />
      <Say
        label="Add a comment"
        act="Comment"
        done="Commented."
        send={(text) => addComment(issueKey, text)}
      />
    </>
  );
};

const WorkForm = ({ issueKey }: Of) => {
  const logging = useAct((work: NewWork) => addWork(issueKey, work), 'Work is logged.');
  const [made, setMade] = useState(0);
  return (
    <form
      key={made}
      className="work-form"
      aria-label="Log work"
      onSubmit={(event) => {
        event.preventDefault();
        const form = new FormData(event.currentTarget);
        const text = (name: string) => String(form.get(name) ?? '').trim();
        const day = text('day');
        const work = {
          timeSpent: text('time'),
          ...(text('comment') === '' ? {} : { comment: text('comment') }),
          ...(day === '' ? {} : { started: `${day}T09:00:00.000+0000` }),
        };
        logging.mutate(work, { onSuccess: () => setMade((now) => now + 1) });
      }}
    >
      <label>
        Time spent
        <input name="time" required placeholder="2h 30m" maxLength={40} />
      </label>
      <label>
        Day
        <input name="day" type="date" />
      </label>
      <label className="work-words">
        What was done
        <input name="comment" maxLength={1_000} />
      </label>
      <button type="submit" className="primary" disabled={logging.isPending}>
        Log work
      </button>
      <Refusal error={logging.error} />
    </form>
  );
};

const WorkLine = ({ issueKey, work }: Of & { work: Work }) => {
  const deleting = useAct(() => deleteWork(issueKey, work.id), 'The work is taken out.');
  return (
    <li className="said">
      <div className="said-head">
        <Person user={work.author} />
        <span className="said-when">
          <b>{work.timeSpent}</b>, <When at={work.started} />
        </span>
        <button
          type="button"
          className="plain"
          aria-label={`Delete ${work.timeSpent} of ${nameOf(work.author)}`}
          disabled={deleting.isPending}
          onClick={() => deleting.mutate(undefined)}
        >
          Delete
        </button>
      </div>
      {work.comment === undefined ? null : (
        <div className="said-text">
          <RichText document={work.comment} none="No words about it." />
        </div>
      )}
      <Refusal error={deleting.error} />
    </li>
  );
};

const WorkLog = ({ issueKey }: Of) => {
  const [pages, setPages] = useState(1);
  const { data, error, refetch } = useWork(issueKey, pages);
  if (error !== null) return <Failure error={error} retry={() => void refetch()} />;
  if (data === undefined) return <Loading what="work" />;
  return (
    <>
      {data.worklogs.length === 0 ? <p className="nothing">No one has logged work.</p> : null}
      <ol className="timeline plain-list">
        {data.worklogs.map((work) => (
          <WorkLine key={work.id} issueKey={issueKey} work={work} />
        ))}
      </ol>
      <More
        shown={data.worklogs.length}
        total={data.total}
        onMore={() => setPages((now) => now + 1)}
      />
      <WorkForm issueKey={issueKey} />
    </>
  );
};

const valueWords = (text: string | null): string => (text === null || text === '' ? 'none' : text);

const History = ({ issueKey }: Of) => {
  const [pages, setPages] = useState(1);
  const { data, error, refetch } = useChanges(issueKey, pages);
  if (error !== null) return <Failure error={error} retry={() => void refetch()} />;
  if (data === undefined) return <Loading what="changes" />;
  return (
    <>
      {data.values.length === 0 ? <p className="nothing">Nothing was changed yet.</p> : null}
      <ol className="timeline plain-list">
        {data.values.map(({ id, author, created, items }) => (
          <li className="event" key={id}>
            <b>{nameOf(author)}</b>, <When at={created} />
            {items.map((item) => (
              <div key={item.field}>
                {item.field}: {valueWords(item.fromString)} → <b>{valueWords(item.toString)}</b>
              </div>
            ))}
          </li>
        ))}
      </ol>
      <More
        shown={data.values.length}
        total={data.total}
        onMore={() => setPages((now) => now + 1)}
      />
    </>
  );
};

const tabs = { comments: 'Comments', work: 'Work log', history: 'History' } as const;
type Tab = keyof typeof tabs;

export const Activity = ({ issueKey }: Of) => {
  const [tab, setTab] = useState<Tab>('comments');
  return (
    <section aria-labelledby="activity">
      <div className="part-head">
        <h2 id="activity">Activity</h2>
        <span className="part-tabs">
          {Object.entries(tabs).map(([name, words]) => (
            <button
              key={name}
              type="button"
              className="tab"
              aria-pressed={tab === name}
              onClick={() => setTab(name as Tab)}
            >
              {words}
            </button>
          ))}
        </span>
      </div>
      <div className="timeline">
        {tab === 'comments' ? <Comments issueKey={issueKey} /> : null}
        {tab === 'work' ? <WorkLog issueKey={issueKey} /> : null}
        {tab === 'history' ? <History issueKey={issueKey} /> : null}
      </div>
    </section>
  );
};
