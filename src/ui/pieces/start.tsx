/** Starts the page of a template: what it reads is remembered for a moment, what it does is announced. */
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { type AnyRouter, type ErrorComponentProps, RouterProvider } from '@tanstack/react-router';
import { createRoot } from 'react-dom/client';
import { AskError } from '../host/ask.ts';
import { Announcer } from './announce.tsx';
import { Failure, NotHere } from './states.tsx';
import { applyTheme } from './theme.tsx';

/** What stands in the place of a page that fails while it is made. */
const ErrorPage = ({ error, reset }: ErrorComponentProps) => (
  <Failure error={error} retry={reset} />
);

/** What routers of all templates' pages have in common. */
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
        // What was refused once is refused again; what did not reach the session is tried again.
        retry: (count, error) => count < 2 && error instanceof AskError && error.status === 0,
      },
    },
  });

/** Shows the page of a router in the document's `#app`. */
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
