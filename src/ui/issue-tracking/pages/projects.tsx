/** List of the site's projects. */
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useListKeys } from '../../pieces/list-keys.ts';
import { Pager } from '../../pieces/pager.tsx';
import { SearchBox } from '../../pieces/search.tsx';
import { Empty, Failure, Loading } from '../../pieces/states.tsx';
import { perPage, useProjects } from '../api/reading.ts';
import { nameOf } from '../parts/marks.tsx';
import { useTitle } from '../parts/title.ts';

type Search = { q?: string; page?: number };

export const readProjectsSearch = ({ q, page }: Record<string, unknown>): Search => ({
  ...(q === undefined || q === '' ? {} : { q: String(q) }),
  ...(Number.isInteger(page) && Number(page) > 1 ? { page: Number(page) } : {}),
});

export const ProjectsPage = () => {
  const { q = '', page = 1 } = useSearch({ from: '/' });
  const navigate = useNavigate({ from: '/' });
  const { data, error, refetch } = useProjects(q, page);
  useTitle('Projects');
  useListKeys();
  const open = (search: Search) => void navigate({ search });
  return (
    <section className="page" aria-labelledby="title">
      <div className="page-head">
        <h1 id="title">Projects</h1>
        <span className="total" role="status">
          {data?.total.toLocaleString('en') ?? ''}
        </span>
        <SearchBox
          label="Search projects"
          value={q}
          onSearch={(text) => open(text === '' ? {} : { q: text })}
        />
      </div>
      {error !== null ? (
        <Failure error={error} retry={() => void refetch()} />
      ) : data === undefined ? (
        <Loading what="projects" />
      ) : data.values.length === 0 ? (
        <Empty title="No projects match.">
          <button type="button" onClick={() => open({})}>
            Show all projects
          </button>
        </Empty>
      ) : (
        <ul className="items">
          {data.values.map(({ key, name, lead, projectTypeKey = '' }) => (
            <li className="item" key={key}>
              <div className="item-main">
                <Link
                  to="/projects/$project/board"
                  params={{ project: key }}
                  className="item-title"
                  data-row=""
                >
                  {name}
                </Link>
                <p className="item-more">
                  <span className="mono">{key}</span>
                  <span>{projectTypeKey.replaceAll('_', ' ')}</span>
                  <span>led by {nameOf(lead)}</span>
                </p>
              </div>
            </li>
          ))}
        </ul>
      )}
      <Pager
        page={page}
        hasMore={page * perPage < (data?.total ?? 0)}
        onPage={(next) => open({ ...(q === '' ? {} : { q }), page: next })}
      />
    </section>
  );
};
