/** The addresses of the page: the map from what stands in one to what is shown. */
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
import type { Row } from './world/model.ts';

/** What an address says of a list: order, search, conditions, and whether a new row is being entered. */
export type ListSearch = { sort?: string; search?: string; where?: Row; form?: 'new' };

const isRecord = (value: unknown): value is Row =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const readListSearch = ({ sort, search, where, form }: Record<string, unknown>): ListSearch => ({
  ...(typeof sort === 'string' && sort !== '' ? { sort } : {}),
  // A search for a number stands in the address as one.
  ...(search === undefined || search === '' ? {} : { search: String(search) }),
  ...(isRecord(where) && Object.keys(where).length > 0 ? { where } : {}),
  ...(form === 'new' ? { form } : {}),
});

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
