/** Frame of the pages of a project: its name and tabs. */
import { Link, Outlet, useParams } from '@tanstack/react-router';
import { Failure } from '../../pieces/states.tsx';
import { useProject } from '../api/reading.ts';

export const useProjectKey = (): string => useParams({ from: '/projects/$project' }).project;

const tabs = [
  ['/projects/$project/board', 'Board'],
  ['/projects/$project/issues', 'Issues'],
  ['/projects/$project/versions', 'Versions'],
] as const;

export const ProjectFrame = () => {
  const project = useProjectKey();
  const { data, error, refetch } = useProject(project);
  if (error !== null) {
    return (
      <Failure error={error} retry={() => void refetch()}>
        <Link to="/">All projects</Link>
      </Failure>
    );
  }
  return (
    <>
      <div className="repository-head wide">
        <p className="repository-name">
          <Link to="/">Projects</Link>
          <span aria-hidden="true">/</span>
          <b>{data?.name ?? project}</b>
          <span className="mono">{project}</span>
        </p>
        <nav className="tabs" aria-label="Of this project">
          {tabs.map(([to, words]) => (
            <Link key={to} to={to} params={{ project }} activeOptions={{ includeSearch: false }}>
              {words}
            </Link>
          ))}
        </nav>
      </div>
      <Outlet />
    </>
  );
};
