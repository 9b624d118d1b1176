/** Routes of the page. */
import {
  createRootRoute,
  createRoute,
  createRouter,
  type ErrorComponentProps,
} from '@tanstack/react-router';
import { HomePage } from './pages/home.tsx';
import { ListPage } from './pages/list.tsx';
import { RowPage } from './pages/row.tsx';
import { Shell } from './pages/shell.tsx';
import { Failure, NotHere } from './pieces/states.tsx';
import { readListSearch } from './world/list-search.ts';

const rootRoute = createRootRoute({ component: Shell, notFoundComponent: HomePage });

export const homeRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/',
  component: HomePage,
});

export const listRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/entities/$entity',
  validateSearch: readListSearch,
  component: ListPage,
});

export const rowRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/entities/$entity/rows/$key',
  validateSearch: ({ form }: Record<string, unknown>): { form?: 'edit' | 'delete' } =>
    form === 'edit' || form === 'delete' ? { form } : {},
  component: RowPage,
});

const routeTree = rootRoute.addChildren([homeRoute, listRoute, rowRoute]);

const ErrorPage = ({ error, reset }: ErrorComponentProps) => (
  <Failure error={error} retry={reset} />
);

export const createAppRouter = () =>
  createRouter({
    routeTree,
    defaultErrorComponent: ErrorPage,
    defaultNotFoundComponent: NotHere,
    scrollRestoration: true,
    pathParamsAllowedCharacters: [',', '@', ':', '$', '+', ';'],
  });

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createAppRouter>;
  }
}
