/** What stands around every page: where things begin, a new issue, who is looking, and light or dark. */
import { Link, Outlet } from '@tanstack/react-router';
import { ThemeChoice } from '../../pieces/theme.tsx';
import { useViewer } from '../api/reading.ts';
import { Person } from '../parts/marks.tsx';

export const Shell = () => {
  const { data: viewer } = useViewer();
  return (
    <div className="frame">
      <a className="skip" href="#main">
        Skip to content
      </a>
      <header className="top">
        <Link to="/" className="brand tracker-brand">
          Issue tracker
        </Link>
        <nav className="top-places" aria-label="Places">
          <Link to="/" activeOptions={{ exact: true, includeSearch: false }}>
            Projects
          </Link>
          <Link to="/issues">Issues</Link>
        </nav>
        <Link to="/create" className="button primary">
          Create
        </Link>
        <ThemeChoice />
        <span className="viewer">
          <span className="off-screen">Signed in as </span>
          {viewer === undefined ? null : <Person user={viewer} />}
        </span>
      </header>
      <main id="main" tabIndex={-1}>
        <Outlet />
      </main>
    </div>
  );
};
