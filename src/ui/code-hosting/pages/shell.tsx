/** Frame of every page: link to the start, the viewer, and the theme. */
import { Link } from '@tanstack/react-router';
import { Frame } from '../../pieces/frame.tsx';
import { useViewer } from '../api/reading.ts';
import { Person } from '../parts/marks.tsx';

const Viewer = () => {
  const { data: viewer } = useViewer();
  return (
    <span
      className="viewer"
      title={viewer === undefined ? undefined : `Signed in as ${viewer.login}`}
    >
      <span className="off-screen">Signed in as </span>
      {viewer === undefined ? null : <Person user={viewer} />}
    </span>
  );
};

const brand = (
  <Link to="/" className="brand">
    Code host
  </Link>
);

export const Shell = () => <Frame begin={brand} end={<Viewer />} />;
