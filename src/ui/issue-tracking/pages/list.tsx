/** List of the issues of one project, or of all projects. They are found by words and choices, or by a query. */
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useListKeys } from '../../pieces/list-keys.ts';
import { Pager } from '../../pieces/pager.tsx';
import { SearchBox } from '../../pieces/search.tsx';
import { Empty, Failure, Loading } from '../../pieces/states.tsx';
import { When } from '../../pieces/when.tsx';
import type { ListIssue } from '../api/bodies.ts';
import { perPage, useIssues } from '../api/reading.ts';
import { nameOf, PriorityMark, StatusMark, TypeMark } from '../parts/marks.tsx';
import { useTitle } from '../parts/title.ts';
import { isNarrowed, jqlOf, type ListSearch, readListSearch } from '../text/jql.ts';
import { Filters, QueryBox } from './list-filters.tsx';
import { useProjectKey } from './project.tsx';

const Row = ({ issue: { key, fields } }: { issue: ListIssue }) => (
  <li className="item">
    <div className="item-main">
      <span className="issue-key">{key}</span>{' '}
      <Link to="/browse/$key" params={{ key }} className="item-title" data-row="">
        {fields.summary}
      </Link>
      <p className="item-more">
        <TypeMark type={fields.issuetype} />
        <PriorityMark priority={fields.priority} />
        <span>{nameOf(fields.assignee)}</span>
        {fields.labels.map((label) => (
          <span key={label}>{label}</span>
        ))}
        <span>
          changed <When at={fields.updated} />
        </span>
      </p>
    </div>
    <span className="item-count">
      <StatusMark status={fields.status} />
    </span>
  </li>
);

type ListProps = {
  project: string;
  search: ListSearch;
  onChange: (search: ListSearch) => void;
};

const List = ({ project, search, onChange }: ListProps) => {
  const { page = 1 } = search;
  const query = jqlOf(project, search);
  const { data, error, refetch, isPlaceholderData } = useIssues(query, page);
  const change = ({ page: _, ...next }: ListSearch) => onChange(readListSearch(next));
  const isQuery = search.jql !== undefined;
  const filters = { project, search, onChange: change };
  const total = data?.total ?? 0;
  useTitle('Issues', project === '' ? undefined : project);
  useListKeys();
  return (
    <section className={project === '' ? 'page' : 'page wide'} aria-labelledby="title">
      <div className="page-head">
        <h1 id="title">Issues</h1>
        <span className="total" role="status">
          {data === undefined || error !== null ? '' : total.toLocaleString('en')}
        </span>
        {isQuery ? null : (
          <SearchBox
            label="Search issues"
            value={search.q ?? ''}
            onSearch={(q) => change({ ...search, q })}
          />
        )}
        <button
          type="button"
          className={isQuery ? 'to-words' : ''}
          onClick={() => (isQuery ? onChange({}) : change({ jql: query }))}
        >
          {isQuery ? 'Words and choices' : 'Write a query'}
        </button>
      </div>
      {isQuery ? (
        <QueryBox key={query} {...filters} />
      ) : (
        <div className="list-bar">
          <Filters {...filters} />
        </div>
      )}
      {error !== null ? (
        <Failure error={error} retry={() => void refetch()} />
      ) : data === undefined ? (
        <Loading what="issues" />
      ) : data.issues.length === 0 ? (
        <Empty title="No issues match.">
          {isNarrowed(search) || page > 1 ? (
            <button type="button" onClick={() => onChange({})}>
              Show all issues
            </button>
          ) : null}
        </Empty>
      ) : (
        <ul className={isPlaceholderData ? 'items stale' : 'items'} aria-busy={isPlaceholderData}>
          {data.issues.map((issue) => (
            <Row key={issue.key} issue={issue} />
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

export const ProjectIssuesPage = () => {
  const from = '/projects/$project/issues';
  const search = useSearch({ from });
  const navigate = useNavigate({ from });
  return (
    <List
      project={useProjectKey()}
      search={search}
      onChange={(next) => void navigate({ search: next })}
    />
  );
};

export const AllIssuesPage = () => {
  const search = useSearch({ from: '/issues' });
  const navigate = useNavigate({ from: '/issues' });
  return <List project="" search={search} onChange={(next) => void navigate({ search: next })} />;
};
