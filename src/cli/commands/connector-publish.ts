/**
 * Commands for connectors of the organization: they publish trees from which projects create worlds, and list them and
 * their versions.
 */
import type { Command } from 'commander';
import { compileTree, replaceFiles } from '#language/compile/compile.ts';
import {
  listConnectors,
  listConnectorVersions,
  publishConnector,
} from '#wire/public-api/operations.ts';
import type { PublishConnectorBody } from '#wire/public-api/projects/connector.ts';
import { encodeTree, namesFolder, readTree, withFolderHint } from '../files/input.ts';
import type { Context } from '../terminal/context.ts';
import { withProgress } from '../terminal/progress.ts';
import { connectorsText, connectorVersionsText, describePublished } from '../views/connector.ts';
import { ProblemsError } from '../views/report.ts';
import {
  addCommand,
  clientFor,
  given,
  printAnswer,
  type ServiceOptions,
  withService,
} from './command.ts';
import { addListCommand } from './request-command.ts';

/**
 * Returns the source of a publication: a folder, which is compiled on this machine first, or a world of the service.
 */
const readGiven = (
  context: Context,
  source: string,
): Pick<PublishConnectorBody, 'files' | 'world'> => {
  if (!namesFolder(source)) return { world: source };
  const tree = readTree(context, source);
  const compiled = compileTree(tree);
  if (!compiled.ok) throw new ProblemsError(source, compiled.problems, tree);
  return { files: encodeTree(replaceFiles(tree, compiled.rewritten)) };
};

type PublishOptions = ServiceOptions & { description?: string; message?: string };

export const addConnectorPublish = (connector: Command, context: Context): void => {
  const command = addCommand(connector, {
    usage: 'publish <slug> <source>',
    summary: 'publish a folder, or the files of <world> or <world>@<version>, in the organization',
    example: [
      'svc worlds connector publish crm ./crm -m "deals have stages"',
      'svc worlds connector publish crm sales@3',
      'svc worlds create mine --from workspace:crm',
    ].join('\n'),
  })
    .option('--description <text>', 'description of the connector')
    .option('-m, --message <text>', 'reason recorded on the version');
  withService(command).action(async (slug: string, source: string, options: PublishOptions) => {
    const { description, message } = options;
    const body = {
      ...readGiven(context, source),
      ...given('description', description),
      ...given('message', message),
    };
    const { body: published } = await withFolderHint(context, source, async () => {
      const client = clientFor(context, options);
      const progress = { out: context.err, step: `publishing ${slug}` };
      const send = () => client.send(publishConnector, { params: { slug }, body });
      return withProgress(progress, send);
    });
    printAnswer(context, options, published, () => describePublished(published));
  });
};

export const addConnectorList = (connector: Command, context: Context): void => {
  addListCommand(connector, context, {
    usage: 'list',
    summary: 'list the connectors that are published in the organization',
    example: 'svc worlds connector list',
    operation: listConnectors,
    text: connectorsText,
  });
};

export const addConnectorVersions = (connector: Command, context: Context): void => {
  addListCommand(connector, context, {
    usage: 'versions <slug>',
    summary: 'list the versions of a connector, newest first',
    example: 'svc worlds connector versions crm',
    operation: listConnectorVersions,
    input: ([slug]) => ({ params: { slug } }),
    text: connectorVersionsText,
  });
};
