/** Page of a world, which compiling generates. It loads the world's model and shows the rows. */
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { createRoot } from 'react-dom/client';
import { AskError } from './host/ask.ts';
import { Announcer } from './pieces/announce.tsx';
import { Failure } from './pieces/states.tsx';
import { applyTheme } from './pieces/theme.tsx';
import { createAppRouter } from './router.tsx';
import { loadModel } from './world/model.ts';

const client = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      // A refusal of the session is final. Only requests that did not reach it are retried.
      retry: (count, error) => count < 2 && error instanceof AskError && error.status === 0,
    },
  },
});

const start = async (element: HTMLElement): Promise<void> => {
  applyTheme();
  const root = createRoot(element);
  try {
    const { title } = await loadModel(element);
    document.title = title;
    const router = createAppRouter();
    root.render(
      <QueryClientProvider client={client}>
        <Announcer>
          <RouterProvider router={router} />
        </Announcer>
      </QueryClientProvider>,
    );
  } catch (error) {
    root.render(<Failure error={error} retry={() => location.reload()} />);
  }
};

const element = document.getElementById('app');
if (element !== null) void start(element);
