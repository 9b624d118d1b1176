/** Operations on connectors. */

import { limits } from '#domain/limits.ts';
import { operation } from '../../operation.ts';
import { Type } from '../../type.ts';
import { ListMeta, PageQuery } from '../lists.ts';
import {
  ConnectorVersionView,
  ConnectorView,
  PublishConnectorBody,
  PublishedConnector,
} from './connector.ts';

const ConnectorParams = Type.Object({ slug: Type.String({ maxLength: 64 }) });

export const listConnectors = operation({
  id: 'listConnectors',
  summary: 'The connectors that are published in the organization, by slug',
  method: 'GET',
  path: '/connectors',
  access: 'read',
  tools: [{ name: 'list_connectors' }],
  query: Type.Object(PageQuery, { additionalProperties: false }),
  answers: { 200: Type.Object({ data: Type.Array(ConnectorView), meta: ListMeta }) },
});

export const listConnectorVersions = operation({
  id: 'listConnectorVersions',
  summary: 'The versions of a connector, newest first',
  method: 'GET',
  path: '/connectors/{slug}/versions',
  access: 'read',
  tools: [{ name: 'list_connector_versions' }],
  params: ConnectorParams,
  query: Type.Object(PageQuery, { additionalProperties: false }),
  answers: { 200: Type.Object({ data: Type.Array(ConnectorVersionView), meta: ListMeta }) },
});

export const publishConnector = operation({
  id: 'publishConnector',
  summary: 'Publish a tree in the organization, as the first or next version of a connector',
  method: 'POST',
  path: '/connectors/{slug}/versions',
  access: 'write',
  params: ConnectorParams,
  body: PublishConnectorBody,
  bodyBytes: limits.worldBodyBytes,
  answers: { 200: PublishedConnector, 201: PublishedConnector },
  refusals: {
    429: 'Too much of the project waits to be compiled, or a quota is used up: see `quota`.',
  },
});
