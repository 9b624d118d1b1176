/**
 * Follows what the control plane says of routes, by a long poll. While the feed is broken nothing that is
 * remembered counts as certain: each route is asked for again when it is next used. A control plane that
 * refuses the gateway's token is not one that is away, and is told apart.
 */
import { describeError } from '#domain/error.ts';
import type { Log } from '#runtime/log.ts';
import { type Poll, startLongPoll } from '#runtime/long-poll.ts';
import type { Loop } from '#runtime/loop.ts';
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

const holdMs = 25_000;

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

  const ask = async ({ after, holdMs, signal }: Poll) => {
    const query = { ...(after === undefined ? {} : { after }), hold: holdMs / 1_000 };
    try {
      const { body } = await client.send(followRoutes, { query, signal });
      refusal = undefined;
      return { ...body, revision: body.cursor };
    } catch (error) {
      if (isRefusal(error)) refusal = describeError(error);
      routes.expireAll();
      throw error;
    }
  };

  const loop = startLongPoll({
    name: 'follow-routes',
    holdMs,
    ask,
    take: ({ missed, sessionIds }) => {
      if (missed) routes.expireAll();
      else routes.expire(sessionIds);
      if (missed || sessionIds.length > 0) onChange(missed ? undefined : sessionIds);
      return sessionIds.length;
    },
    log,
  });
  return { loop, refusal: () => refusal };
};
