/** Frame of all pages of a repository: its name, and links to its issues and pull requests. */
import { Link, Outlet, useLocation, useParams } from '@tanstack/react-router';
import { Failure, Loading } from '../../pieces/states.tsx';
import { useRepository } from '../api/reading.ts';
import type { Place } from '../api/vendor.ts';

export const usePlace = (): Place => {
  const { owner, repo } = useParams({ from: '/$owner/$repo' });
  return { owner, repo };
};

/** Returns true if the viewer has write access, which permits labelling issues, merging and the like. */
export const useMayWrite = (place: Place): boolean => {
  const { data } = useRepository(place);
  return data?.permissions?.push === true && !data.archived;
};

export const RepositoryFrame = () => {
  const place = usePlace();
  const { pathname } = useLocation();
  const { data, error, refetch } = useRepository(place);
  if (error !== null && data === undefined) {
    return (
      <Failure error={error} retry={() => void refetch()}>
        <Link to="/">All repositories</Link>
      </Failure>
    );
  }
  if (data === undefined) return <Loading what={`${place.owner}/${place.repo}`} />;
  const options = { includeSearch: false };
  const isPull = pathname.startsWith(`/${place.owner}/${place.repo}/pull/`);
  return (
    <>
      <div className="repository-head">
        <p className="repository-name">
          <Link to="/">Repositories</Link> <span aria-hidden="true">/</span>{' '}
          <Link to="/$owner/$repo/issues" params={place}>
            {data.full_name}
          </Link>
          {data.private ? <span className="choice">Private</span> : null}
          {data.archived ? <span className="choice">Archived</span> : null}
        </p>
        <nav aria-label="Repository" className="tabs">
          <Link to="/$owner/$repo/issues" params={place} activeOptions={options}>
            Issues
          </Link>
          <Link
            to="/$owner/$repo/pulls"
            params={place}
            activeOptions={options}
            data-chosen={isPull}
          >
            Pull requests
          </Link>
        </nav>
      </div>
      <Outlet />
    </>
  );
};
