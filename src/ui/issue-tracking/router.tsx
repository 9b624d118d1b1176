/** Routes of the page. Their paths are those of the vendor's own site. */
import { createRootRoute, createRoute, createRouter, redirect } from '@tanstack/react-router';
import { pageOptions } from '../pieces/start.tsx';
import { NotHere } from '../pieces/states.tsx';
import { BoardPage, readBoardSearch } from './pages/board.tsx';
import { IssuePage } from './pages/issue.tsx';
import { AllIssuesPage, ProjectIssuesPage } from './pages/list.tsx';
import { NewIssuePage, readNewSearch } from './pages/new-issue.tsx';
import { ProjectFrame } from './pages/project.tsx';
import { ProjectsPage, readProjectsSearch } from './pages/projects.tsx';
import { Shell } from './pages/shell.tsx';
import { VersionsPage } from './pages/versions.tsx';
import { readListSearch } from './text/jql.ts';

const rootRoute = createRootRoute({ component: Shell, notFoundComponent: NotHere });

const at = <Path extends string>(path: Path) => ({ getParentRoute: () => rootRoute, path });

const projectRoute = createRoute({ ...at('/projects/$project'), component: ProjectFrame });

const below = <Path extends string>(path: Path) => ({ getParentRoute: () => projectRoute, path });

const routeTree = rootRoute.addChildren([
  createRoute({ ...at('/'), validateSearch: readProjectsSearch, component: ProjectsPage }),
  createRoute({ ...at('/issues'), validateSearch: readListSearch, component: AllIssuesPage }),
  createRoute({ ...at('/browse/$key'), component: IssuePage }),
  createRoute({ ...at('/create'), validateSearch: readNewSearch, component: NewIssuePage }),
  projectRoute.addChildren([
    createRoute({
      ...below('/'),
      beforeLoad({ params }) {
        throw redirect({ to: '/projects/$project/board', params, replace: true });
      },
    }),
    createRoute({ ...below('/board'), validateSearch: readBoardSearch, component: BoardPage }),
    createRoute({
      ...below('/issues'),
      validateSearch: readListSearch,
      component: ProjectIssuesPage,
    }),
    createRoute({ ...below('/versions'), component: VersionsPage }),
  ]),
]);

export const createAppRouter = () => createRouter({ routeTree, ...pageOptions });

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createAppRouter>;
  }
}
