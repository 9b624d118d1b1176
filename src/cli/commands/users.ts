/**
 * `svc users` and `svc comments`: end users of agents with their activity, and comments that people write on telemetry.
 */
import { type Command, Option } from 'commander';
import { isObject } from '#domain/json.ts';
import { commentedTypes } from '#wire/public-api/observability/comment.ts';
import * as api from '#wire/public-api/operations.ts';
import { readJson, readMember } from '../files/dataset-items.ts';
import type { Context } from '../terminal/context.ts';
import { usageError } from '../views/report.ts';
import { describeComment, describeProfile, listComments, listUserEvents } from '../views/user.ts';
import { given, parseNumber } from './command.ts';
import { addListCommand, addRequestCommand } from './request-command.ts';

type ProfileOptions = {
  displayName?: string;
  email?: string;
  notes?: string;
  attributes?: string;
  replace?: boolean;
};

const objectIn = async (context: Context, text: string | undefined, option: string) => {
  if (text === undefined) return undefined;
  const value = await readJson(context, text, option);
  if (isObject(value)) return value;
  throw usageError(`${option} is not a JSON object`);
};

const addProfiles = (users: Command, context: Context): void => {
  addRequestCommand(users, context, {
    usage: 'show <user>',
    summary: 'show the profile of a user and the totals of their events',
    example: 'svc users show ada',
    operation: api.getUserProfile,
    input: ([userId]) => ({ params: { userId } }),
    text: describeProfile,
  });
  addRequestCommand(users, context, {
    usage: 'set <user>',
    summary: 'create or change a profile; fields that are not given stay as they are',
    example: `svc users set ada --display-name 'Ada Lovelace' --attributes '{"plan": "pro"}'`,
    options: (command) =>
      command
        .option('--display-name <name>', 'name of the user')
        .option('--email <address>', 'e-mail address of the user')
        .option('--notes <text>', 'free text')
        .option(
          '--attributes <json>',
          'attributes as a JSON object, @file, or -; they are merged into the existing ones',
        )
        .option('--replace', 'replace the existing attributes instead'),
    operation: api.setUserProfile,
    input: async ([userId], options: ProfileOptions) => ({
      body: {
        userId,
        ...given('displayName', options.displayName),
        ...given('email', options.email),
        ...given('notes', options.notes),
        ...given('attributes', await objectIn(context, options.attributes, '--attributes')),
        ...(options.replace === true ? { mergeAttributes: false } : {}),
      },
    }),
    text: describeProfile,
  });
};

type EventOptions = {
  value?: number;
  trace?: string;
  session?: string;
  metadata?: string;
  at?: string;
  id?: string;
};

const addEvents = (users: Command, context: Context): void => {
  addRequestCommand(users, context, {
    usage: 'event <user> <event>',
    summary: 'record an event of a user and its value',
    example: 'svc users event ada hours_saved --value 1.5 --trace 5f1c…',
    options: (command) =>
      command
        .option(
          '--value <number>',
          'value of the event, in a unit of your choice',
          parseNumber({ min: -1e15, max: 1e15 }),
        )
        .option('--trace <id>', 'id of the trace that the event belongs to')
        .option('--session <id>', 'id of the trace session that the event belongs to')
        .option('--metadata <json>', 'JSON, @file, or - for standard input')
        .option('--at <time>', 'time of the event (default: now)')
        .option('--id <id>', 'id of the event; an event whose id exists is ignored'),
    operation: api.createUserEvent,
    input: async ([userId, event], options: EventOptions) => ({
      body: {
        ...{ userId, event },
        ...given('value', options.value),
        ...given('traceId', options.trace),
        ...given('sessionId', options.session),
        ...(await readMember(context, 'metadata', options.metadata)),
        ...given('timestamp', options.at),
        ...given('id', options.id),
      },
    }),
    text: (body, view) => listUserEvents([body], view),
  });
  addListCommand(users, context, {
    usage: 'events',
    summary: 'list user events, latest first',
    example: 'svc users events --user ada --event hours_saved --last 30d',
    filters: {
      userId: new Option('--user <id>', 'only events of this user'),
      event: new Option('--event <name>', 'only events with this name'),
    },
    times: ['fromTimestamp', 'toTimestamp'],
    operation: api.listUserEvents,
    text: listUserEvents,
  });
};

export const addUsers = (program: Command, context: Context): void => {
  const users = program.command('users').description('end users of agents and their events');
  addProfiles(users, context);
  addEvents(users, context);
};

const typeOption = () =>
  new Option('--type <type>', 'type of the object').choices([...commentedTypes]);

type CommentOptions = { type: (typeof commentedTypes)[number]; author?: string };

export const addComments = (program: Command, context: Context): void => {
  const comments = program
    .command('comments')
    .description('comments on traces, observations, sessions and prompts');
  addListCommand(comments, context, {
    usage: 'list',
    summary: 'list comments, newest first; with --type and --id only those on one object',
    example: 'svc comments list --type TRACE --on 5f1c…',
    filters: {
      objectType: typeOption(),
      objectId: new Option('--on <id>', 'only comments on the object with this id; needs --type'),
      authorUserId: new Option('--author <id>', 'only comments by this author'),
    },
    operation: api.listComments,
    text: listComments,
  });
  addRequestCommand(comments, context, {
    usage: 'show <comment>',
    summary: 'show a comment',
    example: 'svc comments show cmt-…',
    operation: api.getComment,
    input: ([commentId]) => ({ params: { commentId } }),
    text: describeComment,
  });
  addRequestCommand(comments, context, {
    usage: 'add <object> <text>',
    summary: 'comment on a trace, an observation, a session or a prompt',
    example: "svc comments add 5f1c… 'Why did it refund twice?'",
    options: (command) =>
      command
        .addOption(typeOption().default('TRACE'))
        .option('--author <id>', "id of the comment's author"),
    operation: api.createComment,
    input: ([objectId, content], { type, author }: CommentOptions) => ({
      body: { ...{ objectId, content, objectType: type }, ...given('authorUserId', author) },
    }),
    text: (body) => `the comment ${body.id} was created`,
  });
};
