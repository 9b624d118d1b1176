/** Routes in words. */
import type { RouteContract } from '../contract.ts';

/** What a route does, in a few words. */
export const summaryOf = (route: RouteContract): string => {
  const rows = route.entity ?? 'rows';
  switch (route.action) {
    case 'read':
      return route.single ? `Get one of ${rows}` : `List ${rows}`;
    case 'create':
      return `Add to ${rows}`;
    case 'update':
      return `Change ${rows}`;
    case 'delete':
      return `Remove from ${rows}`;
    case 'handler':
      return `Answered by ${route.handler ?? 'a handler'}`;
  }
};
