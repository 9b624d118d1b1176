/**
 * The methods that a path has besides those of its operations: HEAD where there is GET, OPTIONS, and 405 for all others.
 * Pages of other origins may call the routes that take a public key: the key is what gives access, and a
 * browser adds no credentials of its own.
 */
import { METHODS } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { accessRules, isPublicAccess } from '#wire/access.ts';
import type { ErrorBody } from '#wire/errors.ts';
import type { Access } from '#wire/operation.ts';

/** All that come as requests: `CONNECT` asks for a tunnel, and never reaches a route. */
const methods = METHODS.filter((method) => method !== 'CONNECT');

/** The methods of a path, with the access of each; undefined of what is no operation. */
export type PathMethods = Map<string, Access | undefined>;

/** Whether pages of other origins may call it. */
export const isForPages = (access: Access | undefined): boolean =>
  access !== undefined && isPublicAccess(access) && accessRules[access].publicKey === 'taken';

const exposed = [
  ...['Retry-After', 'X-Request-Id', 'X-RateLimit-Limit', 'X-RateLimit-Remaining'],
  ...['X-RateLimit-Reset', 'ETag', 'WWW-Authenticate'],
].join(', ');

/** Lets a page of any origin read the answer. */
export const allowPages = (reply: FastifyReply): void => {
  reply.header('access-control-allow-origin', '*');
  reply.header('access-control-expose-headers', exposed);
};

const preflightHeaders = 'Authorization, Content-Type, If-None-Match, X-Request-Id, traceparent';
const preflightSeconds = 7_200;

const answerOptions =
  (allow: string, forPages: readonly string[]) =>
  async (request: FastifyRequest, reply: FastifyReply) => {
    reply.header('allow', allow);
    if (request.headers.origin !== undefined && forPages.length > 0) {
      allowPages(reply);
      reply.header('access-control-allow-methods', forPages.join(', '));
      reply.header('access-control-allow-headers', preflightHeaders);
      reply.header('access-control-max-age', preflightSeconds);
    }
    return reply.code(204).send();
  };

const answer405 = (allow: string) => async (request: FastifyRequest, reply: FastifyReply) => {
  const message = `${request.method} is not a method of this path; it has ${allow}`;
  const body: ErrorBody = { message, error: 'method_not_allowed' };
  return reply.code(405).header('allow', allow).send(body);
};

/** The paths with their methods, gathered as routes are added. */
export const gatherRoutes = (app: FastifyInstance): ReadonlyMap<string, PathMethods> => {
  const routes = new Map<string, PathMethods>();
  app.addHook('onRoute', ({ url, method, config }) => {
    const known = routes.get(url) ?? new Map();
    const { access } = (config ?? {}) as { access?: Access };
    for (const one of [method].flat()) known.set(one, access);
    routes.set(url, known);
  });
  return routes;
};

/** Answers OPTIONS, and 405 with `Allow` for the methods that a known path does not have. */
export const bindOtherMethods = (
  app: FastifyInstance,
  routes: ReadonlyMap<string, PathMethods>,
): void => {
  for (const method of methods) {
    if (!app.supportedMethods.includes(method)) app.addHttpMethod(method);
  }
  for (const [url, known] of routes) {
    const isPublic = [...known.values()].some(
      (access) => access !== undefined && isPublicAccess(access),
    );
    const own = isPublic ? [...known.keys(), 'OPTIONS'] : [...known.keys()];
    const allow = own.sort().join(', ');
    if (isPublic) {
      const forPages = [...known]
        .filter(([, access]) => isForPages(access))
        .map(([method]) => method);
      const answer = answerOptions(allow, forPages.sort());
      // No key is asked for, as browsers send none ahead.
      app.route({ method: 'OPTIONS', url, onRequest: answer, handler: answer });
    }
    const others = methods.filter((method) => !own.includes(method));
    const answer = answer405(allow);
    // Refused before the body is read; the handler is never reached.
    app.route({ method: others, url, onRequest: answer, handler: answer });
  }
};
