/** The page of the template `device-management`: devices, groups and policies, over nothing but the world's own API. */
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { createRoot } from 'react-dom/client';
import { AskError } from '../host/ask.ts';
import { Announcer } from '../pieces/announce.tsx';
import { applyTheme } from '../pieces/theme.tsx';
import { createAppRouter } from './router.tsx';

const client = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      // What was refused once is refused again; what did not reach the session is tried again.
      retry: (count, error) => count < 2 && error instanceof AskError && error.status === 0,
    },
  },
});

applyTheme();
const element = document.getElementById('app');
if (element !== null) {
  createRoot(element).render(
    <QueryClientProvider client={client}>
      <Announcer>
        <RouterProvider router={createAppRouter()} />
      </Announcer>
    </QueryClientProvider>,
  );
}
