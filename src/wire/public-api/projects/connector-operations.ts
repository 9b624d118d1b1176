/** Operations on connectors. */

import { limits } from '#domain/limits.ts';
import { getOperation, operation } from '../../operation.ts';
import { Type } from '../../type.ts';
import { PageOnly, pageOf } from '../lists.ts';
import {
  ConnectorVersionView,
  ConnectorView,
  PublishConnectorBody,
  PublishedConnector,
} from './connector.ts';

const ConnectorParams = Type.Object({ slug: Type.String({ maxLength: 64 }) });

export const listConnectors = getOperation({
  id: 'listConnectors',
  summary: 'The connectors that are published in the organization, by slug',
  path: '/connectors',
  access: 'read',
  tools: [{ name: 'list_connectors' }],
  query: PageOnly,
  answer: pageOf(ConnectorView),
});

export const listConnectorVersions = getOperation({
  id: 'listConnectorVersions',
  summary: 'The versions of a connector, newest first',
  path: '/connectors/{slug}/versions',
  access: 'read',
  tools: [{ name: 'list_connector_versions' }],
  params: ConnectorParams,
  query: PageOnly,
  answer: pageOf(ConnectorVersionView),
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
    429: 'Too many builds of the project are queued, or a quota is used up: `quota` names it.',
  },
});
