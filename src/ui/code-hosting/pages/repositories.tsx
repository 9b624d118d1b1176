/** List of the viewer's repositories, or of those that a search finds. */
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useListKeys } from '../../pieces/list-keys.ts';
import { Pager } from '../../pieces/pager.tsx';
import { SearchBox } from '../../pieces/search.tsx';
import { Empty, Failure, Loading } from '../../pieces/states.tsx';
import { When } from '../../pieces/when.tsx';
import type { Repository } from '../api/bodies.ts';
import { useRepositories } from '../api/reading.ts';
import { useTitle } from '../parts/title.ts';

const Item = ({ repository }: { repository: Repository }) => {
  const { owner, name, description, open_issues_count: open } = repository;
  const params = { owner: owner.login, repo: name };
  return (
    <li className="item">
      <div className="item-main">
        <Link to="/$owner/$repo/issues" params={params} className="item-title" data-row="">
          {repository.full_name}
        </Link>{' '}
        {repository.private ? <span className="choice">Private</span> : null}
        {repository.archived ? <span className="choice">Archived</span> : null}
        <p className="item-more">
          {description === null || description === '' ? null : <span>{description}</span>}
          <span>
            updated <When at={repository.updated_at} />
          </span>
        </p>
      </div>
      <span className="item-count">
        {open.toLocaleString('en')} <span>open</span>
      </span>
    </li>
  );
};

export const RepositoriesPage = () => {
  const { q = '', page = 1 } = useSearch({ from: '/' });
  const navigate = useNavigate({ from: '/' });
  const { data, error, refetch, isPlaceholderData } = useRepositories(q, page);
  useTitle('Repositories');
  useListKeys();
  const search = (text: string) => void navigate({ search: text === '' ? {} : { q: text } });
  return (
    <section className="page" aria-labelledby="title">
      <div className="page-head">
        <h1 id="title">Repositories</h1>
        <SearchBox label="Search all repositories" value={q} onSearch={search} />
      </div>
      {error !== null ? (
        <Failure error={error} retry={() => void refetch()} />
      ) : data === undefined ? (
        <Loading what="repositories" />
      ) : data.items.length === 0 ? (
        <Empty title={q === '' ? 'There are no repositories yet.' : 'No repository matches.'}>
          {q === '' ? null : (
            <button type="button" onClick={() => search('')}>
              Show your repositories
            </button>
          )}
        </Empty>
      ) : (
        <ul className={isPlaceholderData ? 'items stale' : 'items'} aria-busy={isPlaceholderData}>
          {data.items.map((repository) => (
            <Item key={repository.full_name} repository={repository} />
          ))}
        </ul>
      )}
      <Pager
        page={page}
        hasMore={data?.hasMore ?? false}
        onPage={(next) => void navigate({ search: { ...(q === '' ? {} : { q }), page: next } })}
      />
    </section>
  );
};
