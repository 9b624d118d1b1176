/** `svc tokens`: personal access tokens. */
import { type Command, Option } from 'commander';
import { mostTokenDays, type TokenScope, tokenScopes } from '#domain/account.ts';
import { AppError } from '#domain/error.ts';
import * as api from '#wire/public-api/operations.ts';
import type { Context } from '../terminal/context.ts';
import { describeMadeToken, describeTokens } from '../views/accounts.ts';
import { usageError } from '../views/report.ts';
import { accountClientFor, getNamedProject } from './account-command.ts';
import {
  addCommand,
  collect,
  given,
  parseNumber,
  printAnswer,
  type ServiceOptions,
  withService,
} from './command.ts';
import { addListCommand, addRequestCommand } from './request-command.ts';

const addList = (tokens: Command, context: Context): void => {
  addListCommand(tokens, context, {
    usage: 'list',
    summary: 'list your own tokens, or all that you manage',
    example: 'svc tokens list\nsvc tokens list --all',
    filters: {
      all: new Option('--all', 'list the tokens of all members; for owners, admins and keys'),
    },
    connect: accountClientFor,
    operation: api.listTokens,
    text: describeTokens,
  });
};

type CreateOptions = ServiceOptions & {
  for?: string;
  scope?: TokenScope[];
  project?: string[];
  days: number;
};

const readScopes = (texts: readonly string[]): TokenScope[] =>
  texts.map((text) => {
    const scope = tokenScopes.find((one) => one === text);
    if (scope === undefined)
      throw usageError(`--scope ${text}: it is none of ${tokenScopes.join(', ')}`);
    return scope;
  });

/** Returns true if the service refused to create a token because the request names no member. */
const isUnnamed = (error: unknown): boolean =>
  error instanceof AppError && error.fields.some(({ path }) => path[0] === 'userId');

const addCreate = (tokens: Command, context: Context): void => {
  const command = addCommand(tokens, {
    usage: 'create <name>',
    summary: 'create a token for yourself or for a member; the token is shown once',
    example:
      'svc tokens create laptop --for bo@acme.example\nsvc tokens create agent --scope mcp:read --project shop --days 7',
  })
    .option(
      '--for <email>',
      "e-mail address of the token's owner; required with a key pair; with a token, the default is yourself",
    )
    .addOption(
      new Option(
        '--scope <scope>',
        `${tokenScopes.join(', ')}; repeatable, default: all`,
      ).argParser(collect),
    )
    .option(
      '--project <project>',
      'limit the token to this project, by slug or id; repeatable',
      collect,
    )
    .option(
      '--days <n>',
      'validity in days',
      parseNumber({ min: 1, max: mostTokenDays, whole: true }),
      90,
    );
  withService(command).action(async (name: string, options: CreateOptions) => {
    const client = accountClientFor(context, options);
    const named = options.project ?? [];
    const projectIds: string[] = [];
    for (const one of named) projectIds.push((await getNamedProject(client, one)).id);
    const wanted = {
      name,
      expiresInDays: options.days,
      ...given('email', options.for),
      ...(options.scope === undefined ? {} : { scopes: readScopes(options.scope) }),
      ...(projectIds.length === 0 ? {} : { projectIds }),
    };
    const { body } = await client.send(api.createToken, { body: wanted }).catch((error) => {
      throw options.for === undefined && isUnnamed(error)
        ? usageError(
            'a key pair belongs to no member: name the owner of the token with --for <email>',
          )
        : error;
    });
    printAnswer(context, options, body, () => describeMadeToken(body));
  });
};

const addRevoke = (tokens: Command, context: Context): void => {
  addRequestCommand(tokens, context, {
    usage: 'revoke <token>',
    summary: 'revoke a token, by the id that "svc tokens list" shows; it stops working within 5 s',
    example: 'svc tokens revoke pat-01kaz4x0pg8q2m5v7n3c1d9e6f',
    connect: accountClientFor,
    operation: api.revokeToken,
    input: ([tokenId]) => ({ params: { tokenId } }),
    text: (_body, _view, [tokenId]) => `${tokenId} is revoked; it stops working within 5 s`,
  });
};

export const addTokens = (program: Command, context: Context): void => {
  const tokens = program.command('tokens').description('personal access tokens');
  for (const add of [addList, addCreate, addRevoke]) add(tokens, context);
};
