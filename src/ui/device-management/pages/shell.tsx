/** What stands around every page: where each kind of thing begins, and light or dark. */
import { Link } from '@tanstack/react-router';
import { Frame } from '../../pieces/frame.tsx';

const places = [
  ['/computers', 'Computers'],
  ['/mobile-devices', 'Mobile devices'],
  ['/groups', 'Groups'],
  ['/policies', 'Policies'],
] as const;

const brand = (
  <Link to="/computers" className="brand">
    Device manager
  </Link>
);

const tabs = (
  <nav className="tabs device-tabs" aria-label="Kinds">
    {places.map(([to, words]) => (
      <Link key={to} to={to}>
        {words}
      </Link>
    ))}
  </nav>
);

export const Shell = () => <Frame begin={brand} below={tabs} />;
