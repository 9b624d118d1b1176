/** Creates the HTTP applications of the listeners: each serves the APIs of its listeners, and no others. */
import type { FastifyInstance } from 'fastify';
import type { ListenerName } from './config.ts';
import { adminEndpoints } from './http/admin/endpoints.ts';
import { gatewayEndpoints } from './http/gateway/endpoints.ts';
import { hostEndpoints } from './http/host/endpoints.ts';
import { poolEndpoints } from './http/pool/endpoints.ts';
import { publicEndpoints } from './http/public/endpoints.ts';
import { dashboardAddressEndpoints } from './http/public/observability/dashboard-address.ts';
import { worldAddressEndpoints } from './http/public/worlds/world-address.ts';
import { senderEndpoints } from './http/sender/endpoints.ts';
import type { Authenticate } from './http/server/auth.ts';
import { createGuard } from './http/server/cross-site.ts';
import { addDashboardPages } from './http/server/dashboard-pages.ts';
import { createShare } from './http/server/fair-share.ts';
import { createFindFairnessKey } from './http/server/fairness-keys.ts';
import { addHealthRoutes, addPublicHealth } from './http/server/health.ts';
import type { KeyUsage } from './http/server/key-usage.ts';
import { allowPages } from './http/server/methods.ts';
import { openApiDocument } from './http/server/openapi.ts';
import type { RequestServices } from './http/server/perform.ts';
import { createLimitRate } from './http/server/rate-limits.ts';
import { type Api, createServer } from './http/server/server.ts';
import { addSignedBlobRoutes } from './http/server/signed-blobs.ts';
import type { Uploads } from './http/server/uploads.ts';
import { dashboardPath } from './observability/dashboards/view.ts';
import type { Parts } from './parts.ts';

const publicPath = '/api/public';

/** Returns every API, with the listener that serves it. */
const apisOf = (parts: Parts, services: RequestServices): (Api & { at: ListenerName })[] => [
  { at: 'public', prefix: publicPath, endpoints: publicEndpoints(parts, services) },
  { at: 'public', prefix: '/world', endpoints: worldAddressEndpoints(parts) },
  { at: 'public', prefix: dashboardPath, endpoints: dashboardAddressEndpoints(parts) },
  { at: 'host', prefix: '/api/host', endpoints: hostEndpoints(parts) },
  { at: 'internal', prefix: '/api/pool', endpoints: poolEndpoints(parts) },
  { at: 'internal', prefix: '/api/gateway', endpoints: gatewayEndpoints(parts) },
  { at: 'internal', prefix: '/api/sender', endpoints: senderEndpoints(parts) },
  { at: 'internal', prefix: '/api/admin', endpoints: adminEndpoints(parts) },
];

const addPublicRoutes = (app: FastifyInstance, parts: Parts, api: Api): void => {
  const operations = api.endpoints.map(({ operation }) => operation);
  // The document is the same for every client, so it is written once.
  let document: string | undefined;
  app.route({
    method: ['GET', 'HEAD'],
    url: `${publicPath}/openapi.json`,
    // Read without authentication. The access level only lets pages of other origins read it.
    config: { access: 'read' },
    handler: async (_, reply) => {
      document ??= JSON.stringify(openApiDocument(operations, `${parts.publicUrl()}${publicPath}`));
      allowPages(reply);
      return reply.type('application/json; charset=utf-8').send(document);
    },
  });
};

type AppOptions = {
  uploads: Uploads;
  authenticate: Authenticate;
  uses: KeyUsage;
  isStopping: () => boolean;
};

/**
 * Creates the function that makes an application for some listeners, with the routes that these serve and no others.
 * Host listeners serve only the host API: code in hosts' containers must not see the state of the program.
 */
export const createAppMaker = (
  parts: Parts,
  { uploads, authenticate, uses, isStopping }: AppOptions,
): ((serves: readonly ListenerName[]) => FastifyInstance) => {
  const { config, db, readBody, metrics, log } = parts;
  const findFairnessKey = createFindFairnessKey(db);
  const share = createShare(parts.holds, metrics);
  const limitRate = createLimitRate(db, config.rateLimit);
  const { publicUrl, gateway, allowed } = config;
  const guard = createGuard({ publicUrl, gateway, ...allowed });
  const all = apisOf(parts, { findFairnessKey, readBody, share });
  return (serves) => {
    const apis = all.filter(({ at }) => serves.includes(at));
    const others = all.filter((api) => !apis.includes(api));
    const elsewhere = others.map(({ prefix }) => prefix);
    const services = {
      authenticate,
      guard,
      findFairnessKey,
      uploads,
      readBody,
      share,
      limitRate,
      uses,
    };
    return createServer({ apis, elsewhere, ...services, metrics, log }, (app) => {
      if (serves.some((name) => name !== 'host')) addHealthRoutes(app, { ...parts, isStopping });
      const publicApi = apis.find(({ at }) => at === 'public');
      if (publicApi === undefined) return;
      addPublicRoutes(app, parts, publicApi);
      addPublicHealth(app, publicPath);
      addSignedBlobRoutes(app, parts);
      addDashboardPages(app, parts);
    });
  };
};
