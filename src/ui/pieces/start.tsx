/** Starts the page of a template, with a cache of queries and the announcer. */
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { type AnyRouter, type ErrorComponentProps, RouterProvider } from '@tanstack/react-router';
import { createRoot } from 'react-dom/client';
import { AskError } from '../host/ask.ts';
import { Announcer } from './announce.tsx';
import { Failure, NotHere } from './states.tsx';
import { applyTheme } from './theme.tsx';

/** Shown in place of a page whose rendering failed. */
const ErrorPage = ({ error, reset }: ErrorComponentProps) => (
  <Failure error={error} retry={reset} />
);

/** Options that the routers of all templates share. */
export const pageOptions = {
  defaultErrorComponent: ErrorPage,
  defaultNotFoundComponent: NotHere,
  scrollRestoration: true,
} as const;

const createClient = (): QueryClient =>
  new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: 5_000,
        // A refusal is final. Only requests that did not reach the session are retried.
        retry: (count, error) => count < 2 && error instanceof AskError && error.status === 0,
      },
    },
  });

/** Renders the page of a router into the document's `#app`. */
export const startPage = (router: AnyRouter): void => {
  applyTheme();
  const element = document.getElementById('app');
  if (element === null) return;
  createRoot(element).render(
    <QueryClientProvider client={createClient()}>
      <Announcer>
        <RouterProvider router={router} />
      </Announcer>
    </QueryClientProvider>,
  );
};
