/** Routes of the page. */
import { createRootRoute, createRoute, createRouter, redirect } from '@tanstack/react-router';
import { pageOptions } from '../pieces/start.tsx';
import { NotHere } from '../pieces/states.tsx';
import { ComputerPage } from './pages/computer.tsx';
import { ComputersPage, MobileDevicesPage, readSearch } from './pages/devices.tsx';
import { GroupPage, GroupsPage } from './pages/groups.tsx';
import { MobileDevicePage } from './pages/mobile-device.tsx';
import { PoliciesPage, PolicyPage } from './pages/policies.tsx';
import { Shell } from './pages/shell.tsx';

const rootRoute = createRootRoute({ component: Shell, notFoundComponent: NotHere });

const at = <Path extends string>(path: Path) => ({ getParentRoute: () => rootRoute, path });

const routeTree = rootRoute.addChildren([
  createRoute({
    ...at('/'),
    beforeLoad() {
      throw redirect({ to: '/computers', replace: true });
    },
  }),
  createRoute({ ...at('/computers'), validateSearch: readSearch, component: ComputersPage }),
  createRoute({ ...at('/computers/$id'), component: ComputerPage }),
  createRoute({
    ...at('/mobile-devices'),
    validateSearch: readSearch,
    component: MobileDevicesPage,
  }),
  createRoute({ ...at('/mobile-devices/$id'), component: MobileDevicePage }),
  createRoute({ ...at('/groups'), component: GroupsPage }),
  createRoute({ ...at('/groups/$kind/$id'), component: GroupPage }),
  createRoute({ ...at('/policies'), component: PoliciesPage }),
  createRoute({ ...at('/policies/$id'), component: PolicyPage }),
]);

export const createAppRouter = () => createRouter({ routeTree, ...pageOptions });

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createAppRouter>;
  }
}
