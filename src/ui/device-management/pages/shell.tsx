/** What stands around every page: where each kind of thing begins, and light or dark. */
import { Link, Outlet } from '@tanstack/react-router';
import { ThemeChoice } from '../../pieces/theme.tsx';

const places = [
  ['/computers', 'Computers'],
  ['/mobile-devices', 'Mobile devices'],
  ['/groups', 'Groups'],
  ['/policies', 'Policies'],
] as const;

export const Shell = () => (
  <div className="frame">
    <a className="skip" href="#main">
      Skip to content
    </a>
    <header className="top">
      <Link to="/computers" className="brand">
        Device manager
      </Link>
      <ThemeChoice />
    </header>
    <nav className="tabs device-tabs" aria-label="Kinds">
      {places.map(([to, words]) => (
        <Link key={to} to={to}>
          {words}
        </Link>
      ))}
    </nav>
    <main id="main" tabIndex={-1}>
      <Outlet />
    </main>
  </div>
);
