/** Frame of every page: links, a button for a new issue, the viewer, and the theme. */
import { Link } from '@tanstack/react-router';
import { Frame } from '../../pieces/frame.tsx';
import { useViewer } from '../api/reading.ts';
import { Person } from '../parts/marks.tsx';

const Viewer = () => {
  const { data: viewer } = useViewer();
  return (
    <span className="viewer">
      <span className="off-screen">Signed in as </span>
      {viewer === undefined ? null : <Person user={viewer} />}
    </span>
  );
};

const begin = (
  <>
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
  </>
);

export const Shell = () => <Frame begin={begin} end={<Viewer />} />;
