/** List of a repository's issues or pull requests: searched, filtered, sorted and paged by the vendor's search. */
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useListKeys } from '../../pieces/list-keys.ts';
import { Pager } from '../../pieces/pager.tsx';
import { SearchBox } from '../../pieces/search.tsx';
import { Empty, Failure, Loading } from '../../pieces/states.tsx';
import { When } from '../../pieces/when.tsx';
import type { Issue } from '../api/bodies.ts';
import { useIssues } from '../api/reading.ts';
import { type Place, placeIn } from '../api/vendor.ts';
import { LabelMark, loginOf, StandingDot, standingOf } from '../parts/marks.tsx';
import { useTitle } from '../parts/title.ts';
import { isNarrowed, type ListSearch, perPage, type State } from '../text/list-search.ts';
import { Chips, Filters } from './list-filters.tsx';
import { usePlace } from './repository.tsx';

type Kind = 'issue' | 'pr';

const wordsOf = { issue: 'issues', pr: 'pull requests' } as const;

const RowLink = ({ issue, place }: { issue: Issue; place: Place }) => {
  const isPull = issue.pull_request !== undefined;
  // A search may return items of other repositories.
  const whose = placeIn(issue.repository_url) ?? place;
  return (
    <Link
      to={isPull ? '/$owner/$repo/pull/$number' : '/$owner/$repo/issues/$number'}
      params={{ ...whose, number: String(issue.number) }}
      className="item-title"
      data-row=""
    >
      {issue.title}
    </Link>
  );
};

const commentWords = (count: number): string => `${count} ${count === 1 ? 'comment' : 'comments'}`;

const Row = ({ issue, place }: { issue: Issue; place: Place }) => (
  <li className="item">
    <StandingDot standing={standingOf(issue)} />
    <div className="item-main">
      <RowLink issue={issue} place={place} />{' '}
      {issue.labels.map((label) => (
        <LabelMark key={label.name} {...label} />
      ))}
      <p className="item-more">
        <span>
          #{issue.number} by {loginOf(issue.user)}, <When at={issue.created_at} />
        </span>
        {issue.milestone === null ? null : <span>{issue.milestone.title}</span>}
        {issue.assignees.length === 0 ? null : (
          <span>for {issue.assignees.map(loginOf).join(', ')}</span>
        )}
      </p>
    </div>
    {issue.comments === 0 ? null : (
      <span className="item-count" title={commentWords(issue.comments)}>
        <span aria-hidden="true">{issue.comments}</span>
        <span className="comment-mark" aria-hidden="true" />
        <span className="off-screen">{commentWords(issue.comments)}</span>
      </span>
    )}
  </li>
);

const states: Record<State, string> = { open: 'Open', closed: 'Closed', all: 'All' };

type StatesProps = { search: ListSearch; to: '/$owner/$repo/issues' | '/$owner/$repo/pulls' };

const States = ({ search, to }: StatesProps) => {
  const place = usePlace();
  const { state: now = 'open', page: _, ...rest } = search;
  return (
    <nav aria-label="State" className="states">
      {Object.entries(states).map(([state, word]) => (
        <Link
          key={state}
          to={to}
          params={place}
          search={state === 'open' ? rest : { ...rest, state: state as State }}
          activeOptions={{ exact: true }}
          aria-current={state === now ? 'page' : undefined}
          data-chosen={state === now}
        >
          {word}
        </Link>
      ))}
    </nav>
  );
};

type ListProps = {
  kind: Kind;
  search: ListSearch;
  to: StatesProps['to'];
  onChange: (search: ListSearch) => void;
};

const List = ({ kind, search, to, onChange }: ListProps) => {
  const place = usePlace();
  const { page = 1, state = 'open' } = search;
  const { data, error, refetch, isPlaceholderData } = useIssues(place, kind, search);
  const what = wordsOf[kind];
  useTitle(kind === 'issue' ? 'Issues' : 'Pull requests', `${place.owner}/${place.repo}`);
  useListKeys();
  const change = ({ page: _, ...next }: ListSearch) => onChange(next);
  const total = data?.total_count ?? 0;
  return (
    <section className="page" aria-labelledby="title">
      <div className="page-head">
        <h1 id="title">{kind === 'issue' ? 'Issues' : 'Pull requests'}</h1>
        <span className="total" role="status">
          {data === undefined ? '' : total.toLocaleString('en')}
        </span>
        <SearchBox
          label={`Search ${what}`}
          value={search.q ?? ''}
          onSearch={(text) => {
            const { q: _, ...rest } = search;
            change(text === '' ? rest : { ...rest, q: text });
          }}
        />
        {kind === 'issue' ? (
          <Link to="/$owner/$repo/issues/new" params={place} className="button primary">
            New issue
          </Link>
        ) : null}
      </div>
      <div className="list-bar">
        <States search={search} to={to} />
        <Filters place={place} search={search} onChange={change} />
      </div>
      <Chips search={search} onChange={change} />
      {error !== null ? (
        <Failure error={error} retry={() => void refetch()} />
      ) : data === undefined ? (
        <Loading what={what} />
      ) : data.items.length === 0 ? (
        <Empty title={state === 'all' ? `No ${what} match.` : `No ${state} ${what} match.`}>
          {isNarrowed(search) || state !== 'all' || page > 1 ? (
            <button type="button" onClick={() => onChange({ state: 'all' })}>
              Show all {what}
            </button>
          ) : null}
        </Empty>
      ) : (
        <ul className={isPlaceholderData ? 'items stale' : 'items'} aria-busy={isPlaceholderData}>
          {data.items.map((issue) => (
            <Row key={`${issue.repository_url} ${issue.number}`} issue={issue} place={place} />
          ))}
        </ul>
      )}
      <Pager
        page={page}
        hasMore={page * perPage < total}
        onPage={(next) => onChange({ ...search, page: next })}
      />
    </section>
  );
};

export const IssuesPage = () => {
  const to = '/$owner/$repo/issues';
  const search = useSearch({ from: to });
  const navigate = useNavigate({ from: to });
  const change = (next: ListSearch) => void navigate({ search: next });
  return <List kind="issue" search={search} to={to} onChange={change} />;
};

export const PullsPage = () => {
  const to = '/$owner/$repo/pulls';
  const search = useSearch({ from: to });
  const navigate = useNavigate({ from: to });
  const change = (next: ListSearch) => void navigate({ search: next });
  return <List kind="pr" search={search} to={to} onChange={change} />;
};
