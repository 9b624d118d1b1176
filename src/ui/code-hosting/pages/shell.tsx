/** What stands around every page: where the code host begins, who is looking, and light or dark. */
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
        <Link to="/" className="brand">
          Code host
        </Link>
        <ThemeChoice />
        <span
          className="viewer"
          title={viewer === undefined ? undefined : `Signed in as ${viewer.login}`}
        >
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
