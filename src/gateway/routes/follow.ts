/**
 * Follows what the control plane says of routes, by a long poll. While the feed is broken nothing that is
 * remembered counts as certain: each route is asked for again when it is next used. A control plane that
 * refuses the gateway's token is not one that is away, and is told apart.
 */
import { describeError } from '#domain/error.ts';
import type { Log } from '#runtime/log.ts';
import { type Loop, startLoop } from '#runtime/loop.ts';
import type { Client } from '#wire/client.ts';
import { followRoutes } from '#wire/gateway-api/operations.ts';
import { isRefusal, type RouteTable } from './route-table.ts';

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

export type Following = {
  /** The status of the loop is how many changes the last answer brought. */
  loop: Loop<number>;
  /** What the control plane says to this gateway's token, while it does not take it. */
  refusal(): string | undefined;
};

/** Starts following. */
export const startFollowing = (options: FollowOptions): Following => {
  const { client, routes, onChange, log } = options;
  let refusal: string | undefined;
  let isConnected = false;
  let cursor: string | undefined;

  const follow = async (stopping: AbortSignal): Promise<number> => {
    // After a break the first answer is wanted at once: it says that the control plane answers again.
    const hold = isConnected ? holdSeconds : 0;
    const query = cursor === undefined ? { hold } : { after: cursor, hold };
    const signal = AbortSignal.any([stopping, AbortSignal.timeout(patienceMs)]);
    const { body } = await client.send(followRoutes, { query, signal });
    cursor = body.cursor;
    isConnected = true;
    if (body.missed) routes.expireAll();
    else routes.expire(body.sessionIds);
    if (body.missed || body.sessionIds.length > 0) {
      onChange(body.missed ? undefined : body.sessionIds);
    }
    return body.sessionIds.length;
  };

  const tick = async (stopping: AbortSignal): Promise<number> => {
    try {
      const changes = await follow(stopping);
      refusal = undefined;
      return changes;
    } catch (error) {
      if (isRefusal(error)) refusal = describeError(error);
      isConnected = false;
      routes.expireAll();
      throw error;
    }
  };
  const loop = startLoop({ name: 'follow-routes', everyMs: 0, tick, log });
  return { loop, refusal: () => refusal };
};
