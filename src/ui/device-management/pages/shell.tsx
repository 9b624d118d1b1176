/** Frame of every page: links to each kind of object, and the theme. */
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
