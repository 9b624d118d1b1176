/**
 * Operations on connectors of project files. They are also served below each world, except those on a single
 * connector.
 */

import { limits } from '#domain/limits.ts';
import { deleteOperation, getOperation, operation } from '../../operation.ts';
import { Type } from '../../type.ts';
import { PageOnly } from '../lists.ts';
import {
  FileConnectorBody,
  FileConnectorChange,
  FileConnectorList,
  FileConnectorView,
  SyncAnswer,
  SyncBody,
} from './file-connector.ts';
import { ofEnvironment } from './file-operations.ts';

const ConnectorParams = Type.Object({ connectorId: Type.String({ maxLength: limits.idChars }) });

export const listFileConnectors = getOperation({
  id: 'listFileConnectors',
  summary: 'The connectors of the project, by name; each syncs files with a folder or a bucket',
  path: '/files/connectors',
  access: 'inspect',
  tools: [{ name: 'list_file_connectors' }],
  query: PageOnly,
  answer: FileConnectorList,
});

export const createFileConnector = operation({
  id: 'createFileConnector',
  summary: 'Create a connector that syncs files of the project with a folder or a bucket',
  method: 'POST',
  path: '/files/connectors',
  access: 'write',
  body: FileConnectorBody,
  answers: { 201: FileConnectorView },
  refusals: {
    409: 'Another connector already has this name.',
    429: 'The project already has the maximum number of connectors.',
  },
});

export const syncFileConnector = operation({
  id: 'syncFileConnector',
  summary:
    'Copy new and changed files; nothing is deleted, and the next sync continues where this one ended',
  method: 'POST',
  path: '/files/connectors/sync',
  access: 'write',
  tools: [{ name: 'sync_file_connector', failed: { member: 'status', values: ['failed'] } }],
  body: SyncBody,
  answers: { 200: SyncAnswer },
  refusals: {
    409: 'A sync of the connector is already in progress.',
    429: 'Too many connectors are being synced; try again later.',
  },
});

export const changeFileConnector = operation({
  id: 'changeFileConnector',
  summary: 'Rename a connector, or change whether agents may sync it',
  method: 'PATCH',
  path: '/files/connectors/{connectorId}',
  access: 'write',
  params: ConnectorParams,
  body: FileConnectorChange,
  answers: { 200: FileConnectorView },
  refusals: { 409: 'Another connector already has this name.' },
});

export const deleteFileConnector = deleteOperation({
  id: 'deleteFileConnector',
  summary: 'Remove a connector; the files stay in the project and in the folder or bucket',
  path: '/files/connectors/{connectorId}',
  access: 'write',
  params: ConnectorParams,
  answer: Type.Object({ deleted: Type.Literal(true) }),
});

export const listFileConnectorsOfEnvironment = ofEnvironment(listFileConnectors);
export const createFileConnectorOfEnvironment = ofEnvironment(createFileConnector);
export const syncFileConnectorOfEnvironment = ofEnvironment(syncFileConnector);
