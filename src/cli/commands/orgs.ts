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
import { accountClientFor, getNamedProject, parseRole } from './account-command.ts';
import {
  addCommand,
  parseNumber,
  printAnswer,
  type ServiceOptions,
  withService,
} from './command.ts';

const operatorFor = (context: Context, { data }: ServiceOptions) =>
  showingWaits(connectOperator({ env: context.env, cwd: context.cwd, data }), context.err);

const parseTier = (text: string): BrowserTier => {
  const tier = browserTiers.find((one) => one === text);
  if (tier !== undefined) return tier;
  throw new InvalidArgumentError(`It is none of ${browserTiers.join(', ')}.`);
};

const addShow = (orgs: Command, context: Context): void => {
  const command = addCommand(orgs, {
    usage: 'show',
    summary: 'the organization of the key or token',
    example: 'svc orgs show',
  });
  withService(command).action(async (options: ServiceOptions) => {
    const { body } = await accountClientFor(context, options).send(api.getOrganization, {});
    printAnswer(context, options, body, () => describeOrganization(body));
  });
};

const addSet = (orgs: Command, context: Context): void => {
  const command = addCommand(orgs, {
    usage: 'set',
    summary: 'another name or default browser tier for the organization',
    example: 'svc orgs set --browser-tier premium',
  })
    .option('--name <name>', 'for people')
    .option('--browser-tier <tier>', 'of sessions whose project sets none', parseTier);
  type Options = ServiceOptions & { name?: string; browserTier?: BrowserTier };
  withService(command).action(async (options: Options) => {
    const { name, browserTier } = options;
    if (name === undefined && browserTier === undefined) {
      throw usageError('give --name or --browser-tier');
    }
    const given = {
      ...(name === undefined ? {} : { name }),
      ...(browserTier === undefined ? {} : { browserTier }),
    };
    const client = accountClientFor(context, options);
    const { body } = await client.send(api.updateOrganization, { body: given });
    printAnswer(context, options, body, () => describeOrganization(body));
  });
};

const addDelete = (orgs: Command, context: Context): void => {
  const command = addCommand(orgs, {
    usage: 'delete <organization-id>',
    summary: 'end the organization, which has no project any more; for its owners',
    example: 'svc orgs delete org-01kaz4x0pg8q2m5v7n3c1d9e6f',
  });
  withService(command).action(async (organizationId: string, options: ServiceOptions) => {
    const client = accountClientFor(context, options);
    const { body } = await client.send(api.deleteOrganization, { body: { organizationId } });
    printAnswer(context, options, body, () => `${organizationId} is deleted`);
  });
};

const addList = (orgs: Command, context: Context): void => {
  const command = addCommand(orgs, {
    usage: 'list',
    summary: 'all organizations; for operators',
    example: 'svc orgs list',
  });
  withService(command).action(async (options: ServiceOptions) => {
    const { body } = await operatorFor(context, options).send(listOrganizations, {});
    printAnswer(context, options, body, (view) => describeOrganizations(body.organizations, view));
  });
};

const addCreate = (orgs: Command, context: Context): void => {
  const command = addCommand(orgs, {
    usage: 'create <slug>',
    summary: 'make an organization with a key pair, and its first owner; for operators',
    example: 'svc orgs create acme --name "Acme Inc" --owner ada@acme.example',
  })
    .option('--name <name>', 'for people; the slug unless given')
    .option('--owner <email>', 'the first owner, for whom a token is made');
  type Options = ServiceOptions & { name?: string; owner?: string };
  withService(command).action(async (slug: string, options: Options) => {
    const { name, owner } = options;
    const wanted = {
      slug,
      ...(name === undefined ? {} : { name }),
      ...(owner === undefined ? {} : { owner }),
    };
    const { body } = await operatorFor(context, options).send(createOrganization, { body: wanted });
    printAnswer(context, options, body, () => describeMadeOrganization(body));
  });
};

const addOwners = (orgs: Command, context: Context): void => {
  const owners = orgs.command('owners').description('owners of organizations; for operators');
  const command = addCommand(owners, {
    usage: 'add <email>',
    summary: 'make somebody an owner, with a token; for operators',
    example: 'svc orgs owners add ada@acme.example --org acme',
  }).option('--org <slug>', 'of which organization', 'local');
  withService(command).action(async (email: string, options: ServiceOptions & { org: string }) => {
    const params = { organization: options.org };
    const client = operatorFor(context, options);
    const { body } = await client.send(addOwner, { params, body: { email } });
    printAnswer(context, options, body, () => describeMadeToken(body));
  });
};

const addMembers = (orgs: Command, context: Context): void => {
  const members = orgs.command('members').description('members of the organization');
  const list = addCommand(members, {
    usage: 'list',
    summary: 'the members with their roles',
    example: 'svc orgs members list',
  });
  withService(list).action(async (options: ServiceOptions) => {
    const { body } = await accountClientFor(context, options).send(api.listMemberships, {});
    const none = 'the organization has no members: "svc orgs owners add <email>" makes the first';
    printAnswer(context, options, body, (view) => describeMembers(body.memberships, none, view));
  });
  const add = addCommand(members, {
    usage: 'add <email>',
    summary: 'make somebody a member, or give a member another role',
    example: 'svc orgs members add bo@acme.example --role member',
  })
    .requiredOption('--role <role>', 'owner, admin, member, viewer or none', parseRole)
    .option('--name <name>', 'of a new user');
  type Options = ServiceOptions & { role: Role; name?: string };
  withService(add).action(async (email: string, options: Options) => {
    const { role, name } = options;
    const given = { email, role, ...(name === undefined ? {} : { name }) };
    const client = accountClientFor(context, options);
    const { body } = await client.send(api.setMembership, { body: given });
    printAnswer(context, options, body, () => `${body.email} is ${body.role.toLowerCase()}`);
  });
  const remove = addCommand(members, {
    usage: 'remove <email>',
    summary: 'remove a member, with their roles in projects and their tokens',
    example: 'svc orgs members remove bo@acme.example',
  });
  withService(remove).action(async (email: string, options: ServiceOptions) => {
    const client = accountClientFor(context, options);
    const { memberships } = (await client.send(api.listMemberships, {})).body;
    const member = memberships.find(
      (one) => one.email === email.toLowerCase() || one.userId === email,
    );
    if (member === undefined) throw usageError(`the organization has no member ${email}`);
    const { userId } = member;
    const { body } = await client.send(api.removeMembership, { body: { userId } });
    printAnswer(context, options, body, () => body.message);
  });
};

const addAudit = (orgs: Command, context: Context): void => {
  const command = addCommand(orgs, {
    usage: 'audit',
    summary: 'who changed what, the newest first',
    example: 'svc orgs audit --limit 20\nsvc orgs audit --project shop --json',
  })
    .option('--project <project>', 'changes of one project alone, by slug or id')
    .option('--limit <n>', 'entries', parseNumber({ min: 1, max: 100, whole: true }), 50)
    .option('--cursor <cursor>', '`meta.nextCursor` of the page before');
  type Options = ServiceOptions & { project?: string; limit: number; cursor?: string };
  withService(command).action(async (options: Options) => {
    const client = accountClientFor(context, options);
    const { project, limit, cursor } = options;
    const query = {
      limit,
      ...(cursor === undefined ? {} : { cursor }),
      ...(project === undefined ? {} : { projectId: (await getNamedProject(client, project)).id }),
    };
    const { body } = await client.send(api.listAuditLog, { query });
    const next = body.meta.nextCursor;
    const more = next === undefined ? '' : `\n--cursor ${next} shows the next`;
    printAnswer(context, options, body, (view) => `${describeAudit(body.data, view)}${more}`);
  });
};

export const addOrgs = (program: Command, context: Context): void => {
  const orgs = program.command('orgs').description('organizations: members, and who changed what');
  for (const add of [addShow, addSet, addMembers, addAudit, addDelete]) add(orgs, context);
  for (const add of [addList, addCreate, addOwners]) add(orgs, context);
};
