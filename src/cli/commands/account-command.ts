/** Code that the commands for managing accounts share: their client, and the choice of the project. */
import { type Command, InvalidArgumentError } from 'commander';
import { type Role, roles } from '#domain/account.ts';
import { AppError } from '#domain/error.ts';
import type { Client } from '#wire/client.ts';
import { listProjects } from '#wire/public-api/operations.ts';
import type { MembershipView, ProjectView } from '#wire/public-api/projects/account.ts';
import { connectAccount, showingWaits } from '../service/client.ts';
import type { Context } from '../terminal/context.ts';
import type { ServiceOptions } from './command.ts';

/**
 * Creates the client for account management. It authenticates with a token or with the key pair of the organization.
 */
export const accountClientFor = (context: Context, { data }: ServiceOptions): Client =>
  showingWaits(connectAccount({ env: context.env, cwd: context.cwd, data }), context.err);

export type ProjectOptions = ServiceOptions & { project?: string };

/** Adds `--project`. */
export const withProject = (command: Command): Command =>
  command.option('--project <project>', 'slug or id (default: the only project)');

const listed = (projects: readonly ProjectView[]): string =>
  projects.length === 0
    ? 'the key or token has access to none'
    : projects
        .map(({ slug }) => slug)
        .slice(0, 20)
        .join(', ');

/**
 * Returns the named project. If none is named, returns the only one. Throws `not_found` or `invalid` with a list of the
 * projects.
 */
export const getNamedProject = async (
  client: Client,
  named: string | undefined,
): Promise<ProjectView> => {
  const { data } = (await client.send(listProjects, {})).body;
  const [only, ...others] = data;
  if (named === undefined && only !== undefined && others.length === 0) return only;
  if (named === undefined) {
    throw new AppError('invalid', `name a project with --project: ${listed(data)}`);
  }
  const found = data.find(({ id, slug }) => id === named || slug === named);
  if (found !== undefined) return found;
  throw new AppError('not_found', `there is no project "${named}": ${listed(data)}`);
};

/** Finds a member by e-mail address or id. */
export const findMember = (
  members: readonly MembershipView[],
  named: string,
): MembershipView | undefined =>
  members.find(({ email, userId }) => email === named.toLowerCase() || userId === named);

/** Parses a role written in small letters. */
export const parseRole = (text: string): Role => {
  const role = roles.find((one) => one === text.toUpperCase());
  if (role !== undefined) return role;
  throw new InvalidArgumentError(`The role is none of ${roles.join(', ').toLowerCase()}.`);
};
