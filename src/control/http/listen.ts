/**
 * Listens on every configured address with one and the same application. Draining serves on, and makes
 * each answer the last one of its connection, so that clients come back through the balancer. Stopping
 * takes no new connections, lets requests under way finish, and cuts off what is left at a deadline.
 */
import { createServer, type RequestListener } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { type Bound, bindAll, type ListenAddress } from '#runtime/listen.ts';

export type Listening = Bound & {
  /** From now on connections end with their next answer. New ones are still taken. */
  drain(): void;
};

/** Longer than clients keep an idle connection, so that it is they who close it. */
const keepAliveMs = 75_000;

/** How long a request may take to come, and how often that is looked at, in milliseconds. */
export type RequestTimes = { requestMs: number; everyMs: number };

const usualTimes: RequestTimes = { requestMs: 120_000, everyMs: 30_000 };

/** Binds all addresses, or none when one of them cannot be had. */
export const listen = async (
  app: FastifyInstance,
  wanted: readonly ListenAddress[],
  { requestMs, everyMs }: RequestTimes = usualTimes,
): Promise<Listening> => {
  let draining = false;
  app.addHook('onSend', async (_, reply) => {
    if (draining) reply.header('connection', 'close');
  });
  await app.ready();
  const handle: RequestListener = (request, response) => app.routing(request, response);
  const bound = await bindAll(
    () =>
      createServer(
        {
          keepAliveTimeout: keepAliveMs,
          // A request that has not come whole by then is answered 408.
          requestTimeout: requestMs,
          connectionsCheckingInterval: everyMs,
          noDelay: true,
        },
        handle,
      ),
    wanted,
  );
  return {
    addresses: bound.addresses,
    drain() {
      draining = true;
    },
    stop(deadlineMs) {
      draining = true;
      return bound.stop(deadlineMs);
    },
  };
};
