/** What stands around every page of a template: the way over all that comes first, where it begins, and light or dark. */
import { Outlet } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { ThemeChoice } from './theme.tsx';

type FrameProps = {
  /** What the head begins with: the product, and where its pages are. */
  begin: ReactNode;
  /** What it ends with, after the choice of light or dark. */
  end?: ReactNode;
  /** Between the head and the page. */
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
