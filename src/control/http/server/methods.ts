/**
 * Answers the methods of a path that are no operations: HEAD for each GET, OPTIONS, and 405 for all others. Pages of
 * other origins may call the routes that accept a public key: the key alone grants access, and the browser adds no
 * credentials.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import findMyWay, { type Config, type HTTPMethod, type HTTPVersion } from 'find-my-way';
import { accessRules, isPublicAccess } from '#wire/access.ts';
import type { ErrorBody } from '#wire/errors.ts';
import type { Access } from '#wire/operation.ts';

/** Methods of a path, each with its access level. The level is undefined for a route that is no operation. */
export type PathMethods = Map<string, Access | undefined>;

/** Returns true if pages of other origins may call the route. They may if the route accepts a public key. */
export const isForPages = (access: Access | undefined): boolean =>
  access !== undefined && isPublicAccess(access) && accessRules[access].publicKey === 'taken';

const exposed = [
  ...['Retry-After', 'X-Request-Id', 'X-RateLimit-Limit', 'X-RateLimit-Remaining'],
  ...['X-RateLimit-Reset', 'ETag', 'WWW-Authenticate'],
].join(', ');

/** Sets the CORS headers that let a page of any origin read the answer. */
export const allowPages = (reply: FastifyReply): void => {
  reply.header('access-control-allow-origin', '*');
  reply.header('access-control-expose-headers', exposed);
};

/**
 * Value of `Access-Control-Allow-Headers` that allows all headers, because SDKs in pages send headers of their own. For
 * browsers `*` does not cover `Authorization`.
 */
const preflightHeaders = 'Authorization, *';
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

/** Builds the handler for the methods of a path that are no operations. */
const answerOthers = (known: PathMethods) => {
  const isPublic = [...known.values()].some(
    (access) => access !== undefined && isPublicAccess(access),
  );
  const own = isPublic ? [...known.keys(), 'OPTIONS'] : [...known.keys()];
  const allow = own.sort().join(', ');
  const forPages = [...known].filter(([, access]) => isForPages(access)).map(([method]) => method);
  const options = answerOptions(allow, forPages.sort());
  const refuse = answer405(allow);
  return async (request: FastifyRequest, reply: FastifyReply) =>
    isPublic && request.method === 'OPTIONS' ? options(request, reply) : refuse(request, reply);
};

/**
 * Creates the handler for methods that are no operations; it answers before authentication and before the body is read.
 * Call this function before routes are added to `app`, and `bind` after the last route.
 */
export const createOtherMethods = (
  app: FastifyInstance,
  routerOptions: Config<HTTPVersion.V1>,
): { bind(): void } => {
  const paths = new Map<string, PathMethods>();
  const routes = findMyWay(routerOptions);
  const others = findMyWay(routerOptions);
  const ignore = (): void => undefined;
  app.addHook('onRoute', ({ url, method, config }) => {
    const known = paths.get(url) ?? new Map();
    const { access } = (config ?? {}) as { access?: Access };
    for (const one of [method].flat()) known.set(one, access);
    paths.set(url, known);
  });
  app.addHook('onRequest', (request, reply, done) => {
    const found = request.is404 ? others.find('GET', request.url) : null;
    const answer = found?.store as ReturnType<typeof answerOthers> | undefined;
    if (answer === undefined) done();
    else answer(request, reply).catch(done);
  });
  return {
    bind() {
      for (const [url, known] of paths) {
        for (const method of known.keys()) routes.on(method as HTTPMethod, url, ignore);
      }
      const methods = new Set([...paths.values()].flatMap((known) => [...known.keys()]));
      for (const [url, known] of paths) {
        const answer = answerOthers(known);
        others.on('GET', url, ignore, answer);
        // A literal path is not to be matched by another route's argument, so it needs routes for these methods. Only
        // such paths get them: routes for all would take 40 MB.
        const taken = [...methods].filter(
          (method) => !known.has(method) && routes.find(method as HTTPMethod, url) !== null,
        );
        if (taken.length > 0) app.route({ method: taken, url, onRequest: answer, handler: answer });
      }
    },
  };
};
