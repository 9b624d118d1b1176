/** `svc orgs`: organizations with their members and their audit log. */
import { type Command, InvalidArgumentError } from 'commander';
import type { Role } from '#domain/account.ts';
import { type BrowserTier, browserTiers } from '#domain/session.ts';
import { addOwner, createOrganization, listOrganizations } from '#wire/admin-api/operations.ts';
import * as api from '#wire/public-api/operations.ts';
import { connectOperator, showingWaits } from '../service/client.ts';
import type { Context } from '../terminal/context.ts';
import {
  describeAudit,
  describeMadeOrganization,
  describeMadeToken,
  describeMembers,
  describeOrganization,
  describeOrganizations,
} from '../views/accounts.ts';
import { usageError } from '../views/report.ts';
import { accountClientFor, findMember, getNamedProject, parseRole } from './account-command.ts';
import { given, parseNumber, type ServiceOptions } from './command.ts';
import { addRequestCommand } from './request-command.ts';

const operatorFor = (context: Context, { data }: ServiceOptions) =>
  showingWaits(connectOperator({ env: context.env, cwd: context.cwd, data }), context.err);

const parseTier = (text: string): BrowserTier => {
  const tier = browserTiers.find((one) => one === text);
  if (tier !== undefined) return tier;
  throw new InvalidArgumentError(`The tier is none of ${browserTiers.join(', ')}.`);
};

const addShow = (orgs: Command, context: Context): void => {
  addRequestCommand(orgs, context, {
    usage: 'show',
    summary: 'show the organization of the key or token',
    example: 'svc orgs show',
    connect: accountClientFor,
    operation: api.getOrganization,
    text: describeOrganization,
  });
};

const addSet = (orgs: Command, context: Context): void => {
  addRequestCommand(orgs, context, {
    usage: 'set',
    summary: 'set the name or the default browser tier of the organization',
    example: 'svc orgs set --browser-tier premium',
    options: (command) =>
      command
        .option('--name <name>', 'display name')
        .option(
          '--browser-tier <tier>',
          'browser tier of sessions whose project sets none',
          parseTier,
        ),
    connect: accountClientFor,
    operation: api.updateOrganization,
    input: (_words, { name, browserTier }: { name?: string; browserTier?: BrowserTier }) => {
      if (name === undefined && browserTier === undefined) {
        throw usageError('give --name or --browser-tier');
      }
      return { body: { ...given('name', name), ...given('browserTier', browserTier) } };
    },
    text: describeOrganization,
  });
};

const addDelete = (orgs: Command, context: Context): void => {
  addRequestCommand(orgs, context, {
    usage: 'delete <organization-id>',
    summary: 'delete an organization without projects; only its owners can',
    example: 'svc orgs delete org-01kaz4x0pg8q2m5v7n3c1d9e6f',
    connect: accountClientFor,
    operation: api.deleteOrganization,
    input: ([organizationId]) => ({ body: { organizationId } }),
    text: (_body, _view, [organizationId]) => `${organizationId} is deleted`,
  });
};

const addList = (orgs: Command, context: Context): void => {
  addRequestCommand(orgs, context, {
    usage: 'list',
    summary: 'list all organizations; for operators',
    example: 'svc orgs list',
    connect: operatorFor,
    operation: listOrganizations,
    text: (body, view) => describeOrganizations(body.organizations, view),
  });
};

const addCreate = (orgs: Command, context: Context): void => {
  addRequestCommand(orgs, context, {
    usage: 'create <slug>',
    summary: 'create an organization with a key pair and its first owner; for operators',
    example: 'svc orgs create acme --name "Acme Inc" --owner ada@acme.example',
    options: (command) =>
      command
        .option('--name <name>', 'display name (default: the slug)')
        .option('--owner <email>', 'the first owner, for whom a token is created'),
    connect: operatorFor,
    operation: createOrganization,
    input: ([slug], { name, owner }: { name?: string; owner?: string }) => ({
      body: { slug, ...given('name', name), ...given('owner', owner) },
    }),
    text: describeMadeOrganization,
  });
};

const addOwners = (orgs: Command, context: Context): void => {
  const owners = orgs.command('owners').description('owners of organizations; for operators');
  addRequestCommand(owners, context, {
    usage: 'add <email>',
    summary: 'make a user an owner and create a token for the user; for operators',
    example: 'svc orgs owners add ada@acme.example --org acme',
    options: (command) => command.option('--org <slug>', 'slug of the organization', 'local'),
    connect: operatorFor,
    operation: addOwner,
    input: ([email], { org }: { org: string }) => ({
      params: { organization: org },
      body: { email },
    }),
    text: describeMadeToken,
  });
};

const addMembers = (orgs: Command, context: Context): void => {
  const members = orgs.command('members').description('members of the organization');
  addRequestCommand(members, context, {
    usage: 'list',
    summary: 'list the members with their roles',
    example: 'svc orgs members list',
    connect: accountClientFor,
    operation: api.listMemberships,
    text: (body, view) => {
      const none = 'the organization has no members: "svc orgs owners add <email>" adds the first';
      return describeMembers(body.memberships, none, view);
    },
  });
  addRequestCommand(members, context, {
    usage: 'add <email>',
    summary: 'add a member, or change the role of a member',
    example: 'svc orgs members add bo@acme.example --role member',
    options: (command) =>
      command
        .requiredOption('--role <role>', 'owner, admin, member, viewer or none', parseRole)
        .option('--name <name>', 'name of a new user'),
    connect: accountClientFor,
    operation: api.setMembership,
    input: ([email], { role, name }: { role: Role; name?: string }) => ({
      body: { email, role, ...given('name', name) },
    }),
    text: ({ email, role }) => `${email} is ${role.toLowerCase()}`,
  });
  addRequestCommand(members, context, {
    usage: 'remove <email>',
    summary: "remove a member, with the member's project roles and tokens",
    example: 'svc orgs members remove bo@acme.example',
    connect: accountClientFor,
    operation: api.removeMembership,
    input: async ([email], _options, client) => {
      const { memberships } = (await client().send(api.listMemberships, {})).body;
      const member = findMember(memberships, email);
      if (member === undefined) throw usageError(`the organization has no member ${email}`);
      return { body: { userId: member.userId } };
    },
    text: ({ message }) => message,
  });
};

type AuditOptions = { project?: string; limit: number; cursor?: string };

const addAudit = (orgs: Command, context: Context): void => {
  addRequestCommand(orgs, context, {
    usage: 'audit',
    summary: 'show the audit log, newest first',
    example: 'svc orgs audit --limit 20\nsvc orgs audit --project shop --json',
    options: (command) =>
      command
        .option('--project <project>', 'only changes of this project, by slug or id')
        .option(
          '--limit <n>',
          'maximum number of entries',
          parseNumber({ min: 1, max: 100, whole: true }),
          50,
        )
        .option('--cursor <cursor>', 'the cursor that the previous page printed'),
    connect: accountClientFor,
    operation: api.listAuditLog,
    input: async (_words, { project, limit, cursor }: AuditOptions, client) => ({
      query: {
        ...{ limit, ...given('cursor', cursor) },
        ...(project === undefined
          ? {}
          : { projectId: (await getNamedProject(client(), project)).id }),
      },
    }),
    text: ({ data, meta }, view) => {
      const more =
        meta.nextCursor === undefined ? '' : `\n--cursor ${meta.nextCursor} shows the next page`;
      return `${describeAudit(data, view)}${more}`;
    },
  });
};

export const addOrgs = (program: Command, context: Context): void => {
  const orgs = program.command('orgs').description('organizations: members and audit log');
  for (const add of [addShow, addSet, addMembers, addAudit, addDelete]) add(orgs, context);
  for (const add of [addList, addCreate, addOwners]) add(orgs, context);
};
