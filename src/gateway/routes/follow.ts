/**
 * Follows changes of routes by a long poll to the control plane. While the feed is broken, no cached route counts as
 * current: each is looked up again at its next use. A control plane that rejects the gateway's token is reported
 * separately from one that does not answer.
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
  /** Called after cached routes have expired: the routes of the listed sessions, or all routes if undefined. */
  onChange(sessionIds: readonly string[] | undefined): void;
  log: Log;
};

const holdMs = 25_000;

export type Following = {
  /** Background loop of the long poll. Its status is the number of changes in the last answer. */
  loop: Loop<number>;
  /** Returns the control plane's error while it rejects this gateway's token. */
  refusal(): string | undefined;
};

/** Starts to follow changes. */
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
