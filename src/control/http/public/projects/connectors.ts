/** Endpoints of connectors: publish and list them, and list their versions. */

import * as api from '#wire/public-api/operations.ts';
import type { ConnectorVersionView, ConnectorView } from '#wire/public-api/projects/connector.ts';
import {
  type ConnectorRow,
  type ConnectorVersionRow,
  findConnector,
  listConnectors,
  listConnectorVersions,
} from '../../../db/worlds/connectors.ts';
import type { Parts } from '../../../parts.ts';
import {
  connectorPrefix,
  noConnector,
  publishConnector,
} from '../../../worlds/versions/connectors.ts';
import { type Endpoint, endpoint, respond } from '../../server/endpoint.ts';
import { toMeta, toRange } from '../../server/paging.ts';

const viewVersion = ({ createdAt, ...row }: ConnectorVersionRow): ConnectorVersionView => ({
  ...row,
  createdAt: createdAt.toISOString(),
});

const view = ({ latest, createdAt, ...row }: ConnectorRow): ConnectorView => ({
  ...row,
  from: `${connectorPrefix}${row.slug}`,
  latest: viewVersion(latest),
  createdAt: createdAt.toISOString(),
});

export const connectorEndpoints = (parts: Parts): Endpoint[] => [
  endpoint(api.listConnectors, async ({ query }, { caller: { projectId } }) => {
    const { rows, total } = await listConnectors(parts.db, projectId, toRange(query));
    return respond(200, { data: rows.map(view), meta: toMeta(query, total) });
  }),

  endpoint(api.listConnectorVersions, async ({ params, query }, { caller: { projectId } }) => {
    const connector = await findConnector(parts.db, projectId, params.slug);
    if (connector === undefined) throw await noConnector(parts, projectId, params.slug);
    const page = toRange(query);
    const rows = await listConnectorVersions(parts.db, projectId, params.slug, page);
    const meta = toMeta(query, connector.latest.number);
    return respond(200, { data: rows.map(viewVersion), meta });
  }),

  endpoint(api.publishConnector, async ({ params: { slug }, body }, { caller, signal }) => {
    const { connector, changed } = await publishConnector(parts, caller, { slug, body }, signal);
    const shown = { ...view(connector), changed };
    return changed ? respond(201, shown) : respond(200, shown);
  }),
];
