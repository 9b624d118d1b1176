/** Placeholders for rows: while rows load, if there are none, and after an error. */
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { AskError } from '../host/ask.ts';

export const Loading = ({ what }: { what: string }) => (
  <div className="state" role="status">
    <span className="spinner" aria-hidden="true" />
    Loading {what}…
  </div>
);

export const Empty = ({ title, children }: { title: string; children?: ReactNode }) => (
  <div className="state">
    <p className="state-title">{title}</p>
    {children}
  </div>
);

const wordsOf = (error: unknown): string =>
  error instanceof Error ? error.message : 'Something went wrong in this page.';

const hintOf = (error: unknown): string =>
  error instanceof AskError ? error.hint : 'Load the page again.';

type FailureProps = { error: unknown; retry: () => void; children?: ReactNode };

/** Shows an error and what to do next; `children` are further actions. */
export const Failure = ({ error, retry, children }: FailureProps) => (
  <div className="state" role="alert">
    <p className="state-title">{wordsOf(error)}</p>
    <p>{hintOf(error)}</p>
    <button type="button" onClick={retry}>
      Try again
    </button>
    {children}
  </div>
);

export const NotHere = () => (
  <Empty title="There is nothing at this address.">
    <Link to="/">To the first page</Link>
  </Empty>
);
