/**
 * Board of a project, with a column for each status. Cards are moved by dragging or by a menu, which also opens by the
 * keyboard (`m` on a card). Only transitions of the workflow are possible: while a card is dragged, columns that it
 * cannot be moved to are dimmed.
 */
import { useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { type DragEvent, useState } from 'react';
import { useAnnounce } from '../../pieces/announce.tsx';
import { ListChoice } from '../../pieces/list-choice.tsx';
import { useListKeys } from '../../pieces/list-keys.ts';
import { SearchBox } from '../../pieces/search.tsx';
import { Failure, Loading } from '../../pieces/states.tsx';
import type { ListIssue, Status, Transition } from '../api/bodies.ts';
import { transitionsPath, useIssues, usePeople, useStatuses } from '../api/reading.ts';
import { ask } from '../api/vendor.ts';
import { categoryOf, nameOf, PriorityMark, TypeMark } from '../parts/marks.tsx';
import { MoveDialog, useMove } from '../parts/move.tsx';
import { Refusal } from '../parts/refusal.tsx';
import { useTitle } from '../parts/title.ts';
import { jqlOf } from '../text/jql.ts';
import { useProjectKey } from './project.tsx';

type Search = { q?: string; assignee?: string };

export const readBoardSearch = ({ q, assignee }: Record<string, unknown>): Search => ({
  ...(q === undefined || q === '' ? {} : { q: String(q) }),
  ...(assignee === undefined || assignee === '' ? {} : { assignee: String(assignee) }),
});

/** Maximum number of cards in a column; the list shows all issues. */
const mostCards = 30;

type Moving = { key: string; from: string; steps: Transition[] | undefined };

type CardProps = {
  issue: ListIssue;
  onDrag: (issue: ListIssue) => void;
  onDrop: () => void;
  onMove: (key: string) => void;
};

const Card = ({ issue: { id, key, fields }, onDrag, onDrop, onMove }: CardProps) => (
  <li
    className="card"
    draggable
    onDragStart={(event) => {
      event.dataTransfer.effectAllowed = 'move';
      event.dataTransfer.setData('text/plain', key);
      onDrag({ id, key, fields });
    }}
    onDragEnd={onDrop}
  >
    <Link
      to="/browse/$key"
      params={{ key }}
      className="card-title"
      data-row=""
      draggable={false}
      onKeyDown={(event) => {
        if (event.key !== 'm' || event.ctrlKey || event.metaKey || event.altKey) return;
        event.preventDefault();
        onMove(key);
      }}
    >
      {fields.summary}
    </Link>
    <p className="card-more">
      <TypeMark type={fields.issuetype} />
      <PriorityMark priority={fields.priority} />
    </p>
    <p className="card-more">
      <span className="mono">{key}</span>
      <span className="card-who">{nameOf(fields.assignee)}</span>
      <button
        type="button"
        className="plain"
        aria-label={`Move ${key}`}
        onClick={() => onMove(key)}
      >
        Move
      </button>
    </p>
  </li>
);

type ColumnProps = Omit<CardProps, 'issue'> & {
  project: string;
  status: Status;
  search: Search;
  moving: Moving | undefined;
  onPut: (status: Status) => void;
};

/** Returns the transitions that lead a card to a status; undefined while they are loading. */
const stepsTo = (moving: Moving, status: Status): Transition[] | undefined =>
  moving.steps?.filter(({ to }) => to.id === status.id);

const Column = ({ project, status, search, moving, onPut, ...card }: ColumnProps) => {
  const [isOver, setOver] = useState(false);
  const jql = jqlOf(project, { ...search, status: status.name, sort: 'priority' });
  const { data, error, refetch } = useIssues(jql, 1, mostCards);
  const isOther = moving !== undefined && moving.from !== status.id;
  const isClosed = isOther && stepsTo(moving, status)?.length === 0;
  const over = (event: DragEvent): void => {
    if (!isOther || isClosed) return;
    event.preventDefault();
    setOver(true);
  };
  return (
    <section
      className={`column ${isClosed ? 'shut' : ''} ${isOver && isOther ? 'over' : ''}`}
      aria-label={status.name}
      onDragOver={over}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        onPut(status);
      }}
    >
      <h2 className={`column-head ${categoryOf(status)}`}>
        {status.name} <span className="total">{data?.total.toLocaleString('en') ?? ''}</span>
      </h2>
      {error !== null ? <Failure error={error} retry={() => void refetch()} /> : null}
      {data === undefined && error === null ? <Loading what="cards" /> : null}
      <ul className="cards">
        {data?.issues.map((issue) => (
          <Card key={issue.key} issue={issue} {...card} />
        ))}
      </ul>
      {data !== undefined && data.total > data.issues.length ? (
        <Link
          to="/projects/$project/issues"
          params={{ project }}
          search={{ ...search, status: status.name }}
        >
          All {data.total.toLocaleString('en')}
        </Link>
      ) : null}
    </section>
  );
};

/**
 * Returns the state of dragging, its handlers, and the error of the last move. `onAsk` is called if the user has to
 * choose a transition or a resolution.
 */
const useDragging = (onAsk: (key: string, to: Status) => void) => {
  const client = useQueryClient();
  const announce = useAnnounce();
  const move = useMove();
  const [moving, setMoving] = useState<Moving>();
  const stepsOf = async (key: string): Promise<Transition[]> => {
    const path = transitionsPath(key);
    const queryFn = () => ask<{ transitions: Transition[] }>('GET', path);
    return (await client.fetchQuery({ queryKey: [path], queryFn })).transitions;
  };
  const drag = async ({ key, fields }: ListIssue): Promise<void> => {
    const from = fields.status.id;
    setMoving({ key, from, steps: undefined });
    const steps = await stepsOf(key).catch(() => undefined);
    setMoving((now) => (now?.key === key ? { key, from, steps } : now));
  };
  const put = async (status: Status): Promise<void> => {
    setMoving(undefined);
    if (moving === undefined || moving.from === status.id) return;
    const { key } = moving;
    const steps = (moving.steps ?? (await stepsOf(key).catch(() => []))).filter(
      ({ to }) => to.id === status.id,
    );
    const [step, ...others] = steps;
    if (step === undefined) return announce(`No step leads ${key} to ${status.name}.`);
    const asks = others.length > 0 || step.fields?.resolution !== undefined;
    if (asks) return onAsk(key, status);
    move.mutate({ key, transition: step.id, to: status });
  };
  return { moving, drag, put, drop: () => setMoving(undefined), error: move.error };
};

type Asked = { key: string; to?: Status };

export const BoardPage = () => {
  const project = useProjectKey();
  const search = useSearch({ from: '/projects/$project/board' });
  const navigate = useNavigate({ from: '/projects/$project/board' });
  const { data: statuses, error, refetch } = useStatuses(project);
  const { data: people = [] } = usePeople(project);
  const [asked, setAsked] = useState<Asked>();
  const {
    moving,
    drag,
    put,
    drop,
    error: refused,
  } = useDragging((key, to) => setAsked({ key, to }));
  useTitle('Board', project);
  useListKeys();
  const change = (next: Search) => void navigate({ search: readBoardSearch(next) });
  return (
    <section className="page wide" aria-labelledby="title">
      <div className="page-head">
        <h1 id="title">Board</h1>
        <ListChoice
          label="Assignee"
          value={search.assignee ?? ''}
          any="Everybody"
          options={[
            ['none', 'No one'],
            ...people.map(({ accountId, displayName }) => [accountId, displayName] as const),
          ]}
          onChoose={(assignee) => change({ ...search, assignee })}
        />
        <SearchBox
          label="Search the board"
          value={search.q ?? ''}
          onSearch={(q) => change({ ...search, q })}
        />
      </div>
      <Refusal error={refused} />
      {error !== null ? <Failure error={error} retry={() => void refetch()} /> : null}
      {statuses === undefined && error === null ? <Loading what="the board" /> : null}
      <div className="board">
        {statuses?.map((status) => (
          <Column
            key={status.id}
            project={project}
            status={status}
            search={search}
            moving={moving}
            onPut={(to) => void put(to)}
            onDrag={(issue) => void drag(issue)}
            onDrop={drop}
            onMove={(key) => setAsked({ key })}
          />
        ))}
      </div>
      {asked === undefined ? null : (
        <MoveDialog
          key={asked.key}
          issueKey={asked.key}
          to={asked.to}
          onClose={() => setAsked(undefined)}
        />
      )}
    </section>
  );
};
