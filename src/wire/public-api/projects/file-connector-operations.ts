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
  summary: 'The folders and buckets that files of the project are synced with, by name',
  path: '/files/connectors',
  access: 'inspect',
  tools: [{ name: 'list_file_connectors' }],
  query: PageOnly,
  answer: FileConnectorList,
});

export const createFileConnector = operation({
  id: 'createFileConnector',
  summary: 'Name a folder or a bucket that files of the project are synced with',
  method: 'POST',
  path: '/files/connectors',
  access: 'write',
  body: FileConnectorBody,
  answers: { 201: FileConnectorView },
  refusals: {
    409: 'Another connector has the name.',
    429: 'The project has no room for another.',
  },
});

export const syncFileConnector = operation({
  id: 'syncFileConnector',
  summary:
    'Bring over what is new in one place or changed; deletes nothing, goes on where it ended',
  method: 'POST',
  path: '/files/connectors/sync',
  access: 'write',
  tools: [{ name: 'sync_file_connector', failed: { member: 'status', values: ['failed'] } }],
  body: SyncBody,
  answers: { 200: SyncAnswer },
  refusals: {
    409: 'It is being synced.',
    429: 'As many are being synced as may be.',
  },
});

export const changeFileConnector = operation({
  id: 'changeFileConnector',
  summary: 'Give a connector another name, or let agents sync it or not',
  method: 'PATCH',
  path: '/files/connectors/{connectorId}',
  access: 'write',
  params: ConnectorParams,
  body: FileConnectorChange,
  answers: { 200: FileConnectorView },
  refusals: { 409: 'Another connector has the name.' },
});

export const deleteFileConnector = deleteOperation({
  id: 'deleteFileConnector',
  summary: 'Remove a connector; files stay on both sides',
  path: '/files/connectors/{connectorId}',
  access: 'write',
  params: ConnectorParams,
  answer: Type.Object({ deleted: Type.Literal(true) }),
});

export const listFileConnectorsOfEnvironment = ofEnvironment(listFileConnectors);
export const createFileConnectorOfEnvironment = ofEnvironment(createFileConnector);
export const syncFileConnectorOfEnvironment = ofEnvironment(syncFileConnector);
