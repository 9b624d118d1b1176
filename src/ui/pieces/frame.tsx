/** Frame of every page of a template: a skip link, the header, and the theme. */
import { Outlet } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { ThemeChoice } from './theme.tsx';

type FrameProps = {
  /** Start of the header: the product's name and its links. */
  begin: ReactNode;
  /** End of the header, after the choice of the theme. */
  end?: ReactNode;
  /** Content between the header and the page. */
  below?: ReactNode;
};

export const Frame = ({ begin, end, below }: FrameProps) => (
  <div className="frame">
    <a className="skip" href="#main">
      Skip to content
    </a>
    <header className="top">
      {begin}
      <ThemeChoice />
      {end}
    </header>
    {below}
    <main id="main" tabIndex={-1}>
      <Outlet />
    </main>
  </div>
);
