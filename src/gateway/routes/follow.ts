/**
 * Follows what the control plane says of routes, by a long poll. While the feed is broken nothing that is
 * remembered counts as certain: each route is asked for again when it is next used.
 */
import type { Log } from '#runtime/log.ts';
import { type Loop, startLoop } from '#runtime/loop.ts';
import type { Client } from '#wire/client.ts';
import { followRoutes } from '#wire/gateway-api/operations.ts';
import type { RouteTable } from './route-table.ts';

export type FollowOptions = {
  client: Client;
  routes: RouteTable;
  /** After routes have expired: these, or all when undefined. */
  onChange(sessionIds: readonly string[] | undefined): void;
  log: Log;
};

const holdSeconds = 25;
/** An answer that does not come by then will not come. */
const patienceMs = 35_000;

/** Starts following. The status of the loop is how many changes the last answer brought. */
export const startFollowing = (options: FollowOptions): Loop<number> => {
  const { client, routes, onChange, log } = options;
  let cursor: string | undefined;

  const follow = async (stopping: AbortSignal): Promise<number> => {
    const query = cursor === undefined ? { hold: 0 } : { after: cursor, hold: holdSeconds };
    const signal = AbortSignal.any([stopping, AbortSignal.timeout(patienceMs)]);
    const { body } = await client.send(followRoutes, { query, signal });
    cursor = body.cursor;
    if (body.missed) routes.expireAll();
    else routes.expire(body.sessionIds);
    if (body.missed || body.sessionIds.length > 0) {
      onChange(body.missed ? undefined : body.sessionIds);
    }
    return body.sessionIds.length;
  };

  const tick = async (stopping: AbortSignal): Promise<number> => {
    try {
      return await follow(stopping);
    } catch (error) {
      routes.expireAll();
      throw error;
    }
  };
  return startLoop({ name: 'follow-routes', everyMs: 0, tick, log });
};
