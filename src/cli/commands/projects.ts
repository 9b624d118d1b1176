/** `svc projects`: the projects of an organization, and the roles of their members. */
import type { Command } from 'commander';
import type { Role } from '#domain/account.ts';
import * as api from '#wire/public-api/operations.ts';
import type { Context } from '../terminal/context.ts';
import { describeMembers, describeProject, describeProjects } from '../views/accounts.ts';
import { usageError } from '../views/report.ts';
import {
  accountClientFor,
  findMember,
  getNamedProject,
  type ProjectOptions,
  parseRole,
  withProject,
} from './account-command.ts';
import { addCommand, given, printAnswer, withService } from './command.ts';
import { addRequestCommand } from './request-command.ts';
import { addSettingsTo } from './settings.ts';

const addList = (projects: Command, context: Context): void => {
  addRequestCommand(projects, context, {
    usage: 'list',
    summary: 'list the projects that the key or token can access',
    example: 'svc projects list',
    connect: accountClientFor,
    operation: api.listProjects,
    text: (body, view) => describeProjects(body.data, view),
  });
};

const addCreate = (projects: Command, context: Context): void => {
  addRequestCommand(projects, context, {
    usage: 'create <name>',
    summary: 'create a project; "svc keys create" creates its first key pair',
    example: 'svc projects create "Shop agents" --slug shop',
    options: (command) => command.option('--slug <slug>', 'slug (default: derived from the name)'),
    connect: accountClientFor,
    operation: api.createProject,
    input: ([name], { slug }: { slug?: string }) => ({ body: { name, ...given('slug', slug) } }),
    text: describeProject,
  });
};

const addRename = (projects: Command, context: Context): void => {
  addRequestCommand(projects, context, {
    usage: 'rename <project> <name>',
    summary: 'rename a project; its slug does not change',
    example: 'svc projects rename shop "Shop and returns"',
    connect: accountClientFor,
    operation: api.updateProject,
    input: async ([named, name], _options, client) => ({
      params: { projectId: (await getNamedProject(client(), named)).id },
      body: { name },
    }),
    text: describeProject,
  });
};

const addDelete = (projects: Command, context: Context): void => {
  addRequestCommand(projects, context, {
    usage: 'delete <project>',
    summary: 'delete a project with its worlds and revoke its keys',
    example: 'svc projects delete shop --yes',
    options: (command) => command.option('--yes', 'confirm'),
    connect: accountClientFor,
    operation: api.deleteProject,
    input: async ([named], { yes }: { yes?: true }, client) => {
      const { id: projectId, slug } = await getNamedProject(client(), named);
      if (yes !== true) {
        throw usageError(`this deletes "${slug}" with all its worlds; add --yes to do it`);
      }
      return { params: { projectId } };
    },
    text: ({ message }) => message,
  });
};

const addMembers = (projects: Command, context: Context): void => {
  const members = projects
    .command('members')
    .description("roles in a project, which replace the members' roles in the organization");
  const list = addCommand(members, {
    usage: 'list',
    summary: "list the members whose role in the project differs from the organization's",
    example: 'svc projects members list --project shop',
  });
  withProject(withService(list)).action(async (options: ProjectOptions) => {
    const client = accountClientFor(context, options);
    const { id: projectId } = await getNamedProject(client, options.project);
    const { body } = await client.send(api.listProjectMemberships, { params: { projectId } });
    const none = 'all members have their role of the organization here';
    printAnswer(context, options, body, (view) => describeMembers(body.memberships, none, view));
  });
  const add = addCommand(members, {
    usage: 'add <email>',
    summary: 'give a member of the organization another role in the project',
    example: 'svc projects members add bo@acme.example --role admin --project shop',
  }).requiredOption('--role <role>', 'admin, member, viewer or none', parseRole);
  type Options = ProjectOptions & { role: Role };
  withProject(withService(add)).action(async (email: string, options: Options) => {
    const { role, project } = options;
    if (role === 'OWNER')
      throw usageError('a project has no owners, only an organization has: "svc orgs members add"');
    const client = accountClientFor(context, options);
    const { id: projectId, slug } = await getNamedProject(client, project);
    const input = { params: { projectId }, body: { email, role } };
    const { body } = await client.send(api.setProjectMembership, input);
    printAnswer(
      context,
      options,
      body,
      () => `${body.email} is ${body.role.toLowerCase()} in ${slug}`,
    );
  });
  const remove = addCommand(members, {
    usage: 'remove <email>',
    summary: "remove a member's role in the project; the role in the organization applies again",
    example: 'svc projects members remove bo@acme.example --project shop',
  });
  withProject(withService(remove)).action(async (email: string, options: ProjectOptions) => {
    const client = accountClientFor(context, options);
    const { id: projectId } = await getNamedProject(client, options.project);
    const params = { projectId };
    const { memberships } = (await client.send(api.listProjectMemberships, { params })).body;
    const member = findMember(memberships, email);
    if (member === undefined)
      throw usageError(`${email} has no role in the project other than that in the organization`);
    const input = { params, body: { userId: member.userId } };
    const { body } = await client.send(api.removeProjectMembership, input);
    printAnswer(context, options, body, () => body.message);
  });
};

export const addProjects = (program: Command, context: Context): void => {
  const projects = program
    .command('projects')
    .description('projects and the roles of their members');
  for (const add of [addList, addCreate, addRename, addDelete, addMembers]) add(projects, context);
  addSettingsTo(projects, context, 'svc projects settings');
};
