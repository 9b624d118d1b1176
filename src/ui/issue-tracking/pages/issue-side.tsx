/** Sidebar of an issue: the fields that the tracker declares as editable, its times and its watchers. */
import { useState } from 'react';
import type { Choice, Option } from '../../pieces/picker.tsx';
import { Side } from '../../pieces/side.tsx';
import { Time } from '../../pieces/time.tsx';
import { When } from '../../pieces/when.tsx';
import { readTime } from '../../world/times.ts';
import type { FieldMeta, Issue } from '../api/bodies.ts';
import { useEditMeta, usePeople, useViewer } from '../api/reading.ts';
import { assignIssue, editIssue, useAct, vote, watch } from '../api/writing.ts';
import { Person } from '../parts/marks.tsx';
import { Refusal } from '../parts/refusal.tsx';
import { bodyOf, type Item, itemsOf, type Kind, kindOf, optionsOf } from '../text/fields.ts';

type FieldProps = { issue: Issue; meta: FieldMeta; kind: Kind };

const isPicked = (kind: Kind): boolean => ['choice', 'choices', 'person', 'people'].includes(kind);

const isOfPeople = (kind: Kind): boolean => kind === 'person' || kind === 'people';

const toOption = ({ value, name }: Item): Option => ({ value, name, mark: name });

const Items = ({ items, kind }: { items: readonly Item[]; kind: Kind }) =>
  items.map(({ value, name }) =>
    isOfPeople(kind) ? (
      <Person key={value} user={{ accountId: value, displayName: name }} />
    ) : (
      <span key={value} className={kind === 'choices' || kind === 'labels' ? 'label' : ''}>
        {name}
      </span>
    ),
  );

const PickedSide = ({ issue, meta, kind }: FieldProps) => {
  const { key, name } = meta;
  const { data: people } = usePeople(issue.fields.project.key);
  const { data: viewer } = useViewer();
  const save = ({ after }: Choice) =>
    key === 'assignee'
      ? assignIssue(issue.key, after[0] ?? null)
      : editIssue(issue.key, { [key]: bodyOf(kind, after) });
  const act = useAct(save, `${name} changed.`);
  const items = itemsOf(issue.fields[key]);
  const options = isOfPeople(kind)
    ? people?.map((user) => toOption({ value: user.accountId, name: user.displayName }))
    : optionsOf(meta).map(toOption);
  const isMine = viewer !== undefined && items.some(({ value }) => value === viewer.accountId);
  return (
    <Side
      title={name}
      none={isOfPeople(kind) ? 'No one' : 'None'}
      edit={{
        options,
        chosen: items.map(({ value }) => value),
        isSingle: kind === 'choice' || kind === 'person',
        isPending: act.isPending,
        refusal: <Refusal error={act.error} />,
        onApply: act.mutate,
      }}
    >
      {items.length === 0 ? [] : <Items items={items} kind={kind} />}
      {key === 'assignee' && viewer !== undefined && !isMine ? (
        <button
          type="button"
          className="plain"
          onClick={() => act.mutate({ before: [], after: [viewer.accountId] })}
        >
          Assign to me
        </button>
      ) : null}
    </Side>
  );
};

type TypedProps = {
  title: string;
  shown: React.ReactNode;
  text: string;
  hint?: string;
  inputType?: 'text' | 'number' | 'date';
  save: (text: string) => Promise<unknown>;
};

/** Shows a text field, which is edited in place. */
const TypedSide = ({ title, shown, text, hint, inputType = 'text', save }: TypedProps) => {
  const [isOpen, setOpen] = useState(false);
  const act = useAct(save, `${title} changed.`);
  if (!isOpen) {
    return (
      <section className="side-section" aria-label={title}>
        <div className="side-head">
          <h2>{title}</h2>
          <button
            type="button"
            className="plain"
            aria-label={`Edit ${title.toLowerCase()}`}
            onClick={() => setOpen(true)}
          >
            Edit
          </button>
        </div>
        <div className="side-values">
          {text === '' ? <span className="nothing">None</span> : shown}
        </div>
      </section>
    );
  }
  return (
    <form
      className="side-section side-form"
      onSubmit={(event) => {
        event.preventDefault();
        const next = String(new FormData(event.currentTarget).get('value') ?? '').trim();
        if (next === text) setOpen(false);
        else act.mutate(next, { onSuccess: () => setOpen(false) });
      }}
      onKeyDown={({ key }) => key === 'Escape' && setOpen(false)}
    >
      <label>
        {title}
        <input
          name="value"
          type={inputType}
          step="any"
          defaultValue={text}
          placeholder={hint}
          maxLength={255}
          // biome-ignore lint/a11y/noAutofocus: what was asked for is to write here
          autoFocus
        />
      </label>
      <div className="buttons">
        <button type="button" onClick={() => setOpen(false)}>
          Cancel
        </button>
        <button type="submit" className="primary" disabled={act.isPending}>
          {act.isPending ? 'Saving…' : 'Save'}
        </button>
      </div>
      <Refusal error={act.error} />
    </form>
  );
};

const typeOf = (kind: Kind) => (kind === 'number' || kind === 'date' ? kind : 'text');

const FieldSide = (props: FieldProps) => {
  const { issue, meta, kind } = props;
  if (isPicked(kind)) return <PickedSide {...props} />;
  const items = itemsOf(issue.fields[meta.key]);
  return (
    <TypedSide
      title={meta.name}
      inputType={typeOf(kind)}
      text={items.map(({ name }) => name).join(' ')}
      shown={<Items items={items} kind={kind} />}
      {...(kind === 'labels' ? { hint: 'Words with spaces between' } : {})}
      save={(text) => editIssue(issue.key, { [meta.key]: bodyOf(kind, [text]) })}
    />
  );
};

const TimeSides = ({ issue }: { issue: Issue }) => {
  const { originalEstimate = '', remainingEstimate = '', timeSpent } = issue.fields.timetracking;
  const save = (name: string) => (text: string) =>
    editIssue(issue.key, { timetracking: { [name]: text } });
  const hint = '1w 2d 3h 30m';
  return (
    <>
      <TypedSide
        title="Original estimate"
        text={originalEstimate}
        shown={originalEstimate}
        hint={hint}
        save={save('originalEstimate')}
      />
      <TypedSide
        title="Remaining estimate"
        text={remainingEstimate}
        shown={remainingEstimate}
        hint={hint}
        save={save('remainingEstimate')}
      />
      <Side title="Time logged" none="None">
        {timeSpent === undefined ? [] : <span>{timeSpent}</span>}
      </Side>
    </>
  );
};

const Attention = ({ issue }: { issue: Issue }) => {
  const { key, fields } = issue;
  const { isWatching, watchCount } = fields.watches;
  const { hasVoted, votes } = fields.votes;
  const { data: viewer } = useViewer();
  const watching = useAct(
    (next: boolean) => watch(key, viewer?.accountId ?? '', next),
    (next) => (next ? 'You watch it.' : 'You watch it no more.'),
  );
  const voting = useAct(
    (next: boolean) => vote(key, next),
    (next) => (next ? 'You voted for it.' : 'Your vote is taken back.'),
  );
  return (
    <section className="side-section" aria-label="Attention">
      <div className="side-values">
        <button
          type="button"
          aria-pressed={isWatching}
          disabled={viewer === undefined || watching.isPending}
          onClick={() => watching.mutate(!isWatching)}
        >
          {isWatching ? 'Stop watching' : 'Watch'} ({watchCount})
        </button>
        <button
          type="button"
          aria-pressed={hasVoted}
          disabled={voting.isPending}
          onClick={() => voting.mutate(!hasVoted)}
        >
          {hasVoted ? 'Take back the vote' : 'Vote'} ({votes})
        </button>
      </div>
      <Refusal error={watching.error ?? voting.error} />
    </section>
  );
};

/** Fields that are shown first; other fields follow in the tracker's order. */
const first = ['assignee', 'reporter', 'priority'];

const rankOf = ({ key }: FieldMeta): number => {
  const at = first.indexOf(key);
  return at === -1 ? first.length : at;
};

export const IssueSide = ({ issue }: { issue: Issue }) => {
  const { data, error } = useEditMeta(issue.key);
  const metas = Object.values(data?.fields ?? {}).toSorted((a, b) => rankOf(a) - rankOf(b));
  const created = readTime(issue.fields.created);
  return (
    <>
      <Refusal error={error} />
      {metas.map((meta) => {
        const kind = kindOf(meta);
        return kind === undefined ? null : (
          <FieldSide key={meta.key} issue={issue} meta={meta} kind={kind} />
        );
      })}
      <TimeSides issue={issue} />
      <Attention issue={issue} />
      <p className="hint">
        Made {created === undefined ? null : <Time time={created} isDated />}, changed{' '}
        <When at={issue.fields.updated} />
      </p>
    </>
  );
};
