/** `svc files connectors` and `svc files sync`: folders and buckets whose files are synced with the project. */
import { type Command, Option } from 'commander';
import { AppError } from '#domain/error.ts';
import type { Client } from '#wire/client.ts';
import * as api from '#wire/public-api/operations.ts';
import {
  type BucketBody,
  connectorKinds,
  type FileConnectorBody,
  type FileConnectorView,
  type SyncAnswer,
  syncDirections,
} from '#wire/public-api/projects/file-connector.ts';
import type { Context } from '../terminal/context.ts';
import { withProgress } from '../terminal/progress.ts';
import { describeConnector, describeSync, listConnectors } from '../views/files.ts';
import { exitStatus, usageError } from '../views/report.ts';
import {
  addCommand,
  clientFor,
  given,
  printAnswer,
  type ServiceOptions,
  withService,
} from './command.ts';
import { addListCommand, addRequestCommand } from './request-command.ts';

/** Finds a connector by name or id. */
const findConnector = async (client: Client, named: string): Promise<FileConnectorView> => {
  const { body } = await client.send(api.listFileConnectors, { query: { limit: 100 } });
  const found =
    body.data.find(({ name }) => name === named) ?? body.data.find(({ id }) => id === named);
  if (found !== undefined) return found;
  throw new AppError('not_found', `there is no file connector "${named}"`, {
    detail: { hint: 'svc files connectors list' },
  });
};

const addList = (connectors: Command, context: Context): void => {
  addListCommand(connectors, context, {
    usage: 'list',
    summary: 'list the file connectors of the project, by name',
    example: 'svc files connectors list',
    operation: api.listFileConnectors,
    text: listConnectors,
  });
};

type CreateOptions = ServiceOptions & {
  kind: FileConnectorBody['kind'];
  direction?: FileConnectorBody['direction'];
  target?: string;
  agents?: boolean;
  folder?: string;
  bucket?: string;
  prefix?: string;
  region?: string;
  endpoint?: string;
  keysOf?: string;
};

/** Reads the bucket from the options. Its keys come from the environment, so that they are not in a shell's history. */
const bucketOf = async (
  { env }: Context,
  client: Client,
  options: CreateOptions,
): Promise<BucketBody> => {
  const { bucket: name = '', prefix, region, endpoint, keysOf } = options;
  const at = {
    ...given('prefix', prefix),
    ...given('region', region),
    ...given('endpoint', endpoint),
  };
  if (keysOf !== undefined) {
    const { connectionId } = await findConnector(client, keysOf);
    if (connectionId === null) throw usageError(`"${keysOf}" is a folder, which has no keys`);
    return { name, ...at, connectionId };
  }
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } = env;
  if (accessKeyId === undefined || secretAccessKey === undefined) {
    throw usageError(
      'set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or give --keys-of <connector>',
    );
  }
  return { name, ...at, accessKeyId, secretAccessKey };
};

const addCreate = (connectors: Command, context: Context): void => {
  const command = addCommand(connectors, {
    usage: 'create <name>',
    summary:
      'create a connector to a bucket (with keys from the environment) or to a folder of the service',
    example: [
      'svc files connectors create reports --kind bucket --bucket acme-reports --region eu-north-1 --target reports',
      'svc files connectors create backup --kind folder --folder backup --direction push',
    ].join('\n'),
  })
    .addOption(
      new Option('--kind <kind>', 'kind of connector')
        .choices([...connectorKinds])
        .makeOptionMandatory(),
    )
    .addOption(
      new Option(
        '--direction <direction>',
        'pull: copy files into the project; push: copy files out of it',
      ).choices([...syncDirections]),
    )
    .option('--target <folder>', 'folder of the project (default: the top)')
    .option(
      '--folder <path>',
      'for a folder: its path below the directory that the operator assigned to the project',
    )
    .option('--bucket <name>', 'for a bucket: its name')
    .option('--prefix <path>', 'for a bucket: only objects below this prefix')
    .option('--region <region>', 'for a bucket: its region')
    .option(
      '--endpoint <url>',
      'for a bucket outside Amazon S3: the endpoint, such as https://s3.example.com',
    )
    .option('--keys-of <connector>', 'use endpoint, region and keys of another connector')
    .option('--no-agents', 'forbid agents to sync the connector');
  withService(command).action(async (name: string, options: CreateOptions) => {
    const client = clientFor(context, options);
    const { kind, direction, target, folder, agents } = options;
    const body: FileConnectorBody = {
      ...{ name, kind },
      ...given('direction', direction),
      ...given('targetPrefix', target),
      ...given('folder', folder),
      ...(kind === 'bucket' ? { bucket: await bucketOf(context, client, options) } : {}),
      ...(agents === false ? { agentAccess: false } : {}),
    };
    const { body: made } = await client.send(api.createFileConnector, { body });
    printAnswer(context, options, made, () => describeConnector(made));
  });
};

const addRest = (connectors: Command, context: Context): void => {
  addRequestCommand(connectors, context, {
    usage: 'agents <connector> <access>',
    summary: 'allow (on) or forbid (off) agents to sync a connector',
    example: 'svc files connectors agents reports off',
    operation: api.changeFileConnector,
    input: async ([named, access], _options, client) => {
      if (access !== 'on' && access !== 'off') throw usageError('<access> must be on or off');
      const { id: connectorId } = await findConnector(client(), named);
      return { params: { connectorId }, body: { agentAccess: access === 'on' } };
    },
    text: describeConnector,
  });
  addRequestCommand(connectors, context, {
    usage: 'delete <connector>',
    summary: 'remove a connector; no files are deleted',
    example: 'svc files connectors delete reports',
    operation: api.deleteFileConnector,
    input: async ([named], _options, client) => ({
      params: { connectorId: (await findConnector(client(), named)).id },
    }),
    text: (_body, _view, [named]) => `${named} is removed`,
  });
};

/** Syncs repeatedly until nothing is left to copy. Returns the totals. */
const syncAll = (client: Client, connectorId: string, context: Context): Promise<SyncAnswer> =>
  withProgress({ out: context.err, step: 'syncing' }, async ({ showStep }) => {
    let files = 0;
    let bytes = 0;
    for (;;) {
      const { body } = await client.send(api.syncFileConnector, { body: { connectorId } });
      files += body.files;
      bytes += body.capture.bytes;
      showStep(`syncing: ${files} of ${files + body.capture.left} files`);
      if (body.capture.left === 0 || body.files === 0) {
        return { ...body, files, capture: { ...body.capture, bytes } };
      }
    }
  });

const addSync = (files: Command, context: Context): void => {
  const command = addCommand(files, {
    usage: 'sync <connector>',
    summary: 'copy new and changed files with a connector, which is given by name or id',
    example: 'svc files sync reports',
  });
  withService(command).action(async (named: string, options: ServiceOptions) => {
    const client = clientFor(context, options);
    const { id } = await findConnector(client, named);
    const answer = await syncAll(client, id, context);
    if (answer.status !== 'complete') context.setExitStatus(exitStatus.failed);
    printAnswer(context, options, answer, () => describeSync(answer));
  });
};

export const addFileConnectors = (files: Command, context: Context): void => {
  addSync(files, context);
  const connectors = files
    .command('connectors')
    .description('folders and buckets whose files are synced with the project');
  addList(connectors, context);
  addCreate(connectors, context);
  addRest(connectors, context);
};
