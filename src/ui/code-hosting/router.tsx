/** Routes of the page. Their paths are those of the vendor's own site. */
import { createRootRoute, createRoute, createRouter, redirect } from '@tanstack/react-router';
import { pageOptions } from '../pieces/start.tsx';
import { NotHere } from '../pieces/states.tsx';
import { CommitsPage, FilesPage } from './pages/changes.tsx';
import { IssuePage } from './pages/issue.tsx';
import { IssuesPage, PullsPage } from './pages/list.tsx';
import { NewIssuePage } from './pages/new-issue.tsx';
import { PullPage } from './pages/pull.tsx';
import { RepositoriesPage } from './pages/repositories.tsx';
import { RepositoryFrame } from './pages/repository.tsx';
import { Shell } from './pages/shell.tsx';
import { readListSearch, readPageNumber } from './text/list-search.ts';

const rootRoute = createRootRoute({ component: Shell, notFoundComponent: NotHere });

const repositoriesRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/',
  validateSearch: ({ q, page }: Record<string, unknown>): { q?: string; page?: number } => ({
    ...(q === undefined || q === '' ? {} : { q: String(q) }),
    ...readPageNumber(page),
  }),
  component: RepositoriesPage,
});

const repositoryRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/$owner/$repo',
  component: RepositoryFrame,
});

const below = <Path extends string>(path: Path) => ({
  getParentRoute: () => repositoryRoute,
  path,
});

const routeTree = rootRoute.addChildren([
  repositoriesRoute,
  repositoryRoute.addChildren([
    createRoute({
      ...below('/'),
      beforeLoad({ params }) {
        throw redirect({ to: '/$owner/$repo/issues', params, replace: true });
      },
    }),
    createRoute({
      ...below('/issues'),
      validateSearch: readListSearch,
      component: IssuesPage,
    }),
    createRoute({ ...below('/issues/new'), component: NewIssuePage }),
    createRoute({ ...below('/issues/$number'), component: IssuePage }),
    createRoute({
      ...below('/pulls'),
      validateSearch: readListSearch,
      component: PullsPage,
    }),
    createRoute({ ...below('/pull/$number'), component: PullPage }),
    createRoute({ ...below('/pull/$number/commits'), component: CommitsPage }),
    createRoute({ ...below('/pull/$number/files'), component: FilesPage }),
  ]),
]);

export const createAppRouter = () => createRouter({ routeTree, ...pageOptions });

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createAppRouter>;
  }
}
