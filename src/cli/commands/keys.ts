/** `svc keys`: key pairs of projects and, with `--org`, of the organization. */
import type { Command } from 'commander';
import * as api from '#wire/public-api/operations.ts';
import type { Context } from '../terminal/context.ts';
import { describeKeys, describeMadeKey } from '../views/accounts.ts';
import {
  accountClientFor,
  getNamedProject,
  type ProjectOptions,
  withProject,
} from './account-command.ts';
import { addCommand, printAnswer, withService } from './command.ts';

type KeyOptions = ProjectOptions & { org?: true };

const withOwner = (command: Command): Command =>
  withProject(withService(command)).option(
    '--org',
    'manage key pairs of the organization, not of a project',
  );

const addList = (keys: Command, context: Context): void => {
  const command = addCommand(keys, {
    usage: 'list',
    summary: 'list the valid key pairs, without their secrets',
    example: 'svc keys list --project shop\nsvc keys list --org',
  });
  withOwner(command).action(async (options: KeyOptions) => {
    const client = accountClientFor(context, options);
    const { body } =
      options.org === true
        ? await client.send(api.listOrganizationKeys, {})
        : await client.send(api.listProjectKeys, {
            params: { projectId: (await getNamedProject(client, options.project)).id },
          });
    printAnswer(context, options, body, (view) => describeKeys(body.apiKeys, view));
  });
};

const addCreate = (keys: Command, context: Context): void => {
  const command = addCommand(keys, {
    usage: 'create',
    summary: 'create a key pair; its secret is shown once',
    example: 'svc keys create --project shop --note "the nightly run"',
  }).option('--note <text>', 'purpose of the key, for people');
  withOwner(command).action(async (options: KeyOptions & { note?: string }) => {
    const client = accountClientFor(context, options);
    const isOrganizations = options.org === true;
    const given = options.note === undefined ? {} : { note: options.note };
    const { body } = isOrganizations
      ? await client.send(api.createOrganizationKey, { body: given })
      : await client.send(api.createProjectKey, {
          params: { projectId: (await getNamedProject(client, options.project)).id },
          body: given,
        });
    printAnswer(context, options, body, () => describeMadeKey(body, isOrganizations));
  });
};

const addRevoke = (keys: Command, context: Context): void => {
  const command = addCommand(keys, {
    usage: 'revoke <key>',
    summary:
      'revoke a key pair, by its id or its public key as "svc keys list" shows them; it stops working within 5 s',
    example:
      'svc keys revoke key-01kaz4x0pg8q2m5v7n3c1d9e6f --project shop\nsvc keys revoke pk-… --project shop',
  });
  withOwner(command).action(async (apiKeyId: string, options: KeyOptions) => {
    const client = accountClientFor(context, options);
    const { body } =
      options.org === true
        ? await client.send(api.revokeOrganizationKey, { params: { apiKeyId } })
        : await client.send(api.revokeProjectKey, {
            params: { projectId: (await getNamedProject(client, options.project)).id, apiKeyId },
          });
    printAnswer(
      context,
      options,
      body,
      () => `${apiKeyId} is revoked; it stops working within 5 s`,
    );
  });
};

export const addKeys = (program: Command, context: Context): void => {
  const keys = program.command('keys').description('key pairs of projects and organizations');
  for (const add of [addList, addCreate, addRevoke]) add(keys, context);
};
