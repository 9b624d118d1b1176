/** `svc users` and `svc comments`: end users of agents with their activity, and comments of people on it. */
import { type Command, Option } from 'commander';
import { isObject } from '#domain/json.ts';
import { commentedTypes } from '#wire/public-api/observability/comment.ts';
import * as api from '#wire/public-api/operations.ts';
import { readJson } from '../files/dataset-items.ts';
import type { Context } from '../terminal/context.ts';
import { usageError } from '../views/report.ts';
import { describeComment, describeProfile, listComments, listUserEvents } from '../views/user.ts';
import {
  addCommand,
  addPaging,
  clientFor,
  given,
  type PagingOptions,
  pageOf,
  parseNumber,
  printAnswer,
  printPage,
  type ServiceOptions,
  withService,
} from './command.ts';
import { addTimes, fromOf, type TimeOptions } from './traces.ts';

type ProfileOptions = ServiceOptions & {
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
  throw usageError(`${option} is no JSON object`);
};

const addProfiles = (users: Command, context: Context): void => {
  const show = addCommand(users, {
    usage: 'show <user>',
    summary: 'what is known of a user, and what the events come to',
    example: 'svc users show ada',
  });
  withService(show).action(async (userId: string, options: ServiceOptions) => {
    const params = { userId };
    const { body } = await clientFor(context, options).send(api.getUserProfile, { params });
    printAnswer(context, options, body, (view) => describeProfile(body, view));
  });
  const set = addCommand(users, {
    usage: 'set <user>',
    summary: 'make or change a profile; what is not given stays',
    example: `svc users set ada --display-name 'Ada Lovelace' --attributes '{"plan": "pro"}'`,
  })
    .option('--display-name <name>', 'how to call them')
    .option('--email <address>', 'their address')
    .option('--notes <text>', 'anything else')
    .option('--attributes <json>', 'JSON object, @file, or -: laid over those that there are')
    .option('--replace', 'put the attributes in the place of those that there are');
  withService(set).action(async (userId: string, options: ProfileOptions) => {
    const body = {
      userId,
      ...given('displayName', options.displayName),
      ...given('email', options.email),
      ...given('notes', options.notes),
      ...given('attributes', await objectIn(context, options.attributes, '--attributes')),
      ...(options.replace === true ? { mergeAttributes: false } : {}),
    };
    const answer = await clientFor(context, options).send(api.setUserProfile, { body });
    printAnswer(context, options, answer.body, (view) => describeProfile(answer.body, view));
  });
};

type EventOptions = ServiceOptions & {
  value?: number;
  trace?: string;
  session?: string;
  metadata?: string;
  at?: string;
  id?: string;
};

type EventsOptions = ServiceOptions &
  PagingOptions &
  TimeOptions & { user?: string; event?: string };

const addEvents = (users: Command, context: Context): void => {
  const tell = addCommand(users, {
    usage: 'event <user> <event>',
    summary: 'tell of something that a user did, and what it was worth',
    example: 'svc users event ada hours_saved --value 1.5 --trace 5f1c…',
  })
    .option(
      '--value <number>',
      'what it is worth, in your own terms',
      parseNumber({ min: -1e15, max: 1e15 }),
    )
    .option('--trace <id>', 'the trace that it is about')
    .option('--session <id>', 'the session that it is about')
    .option('--metadata <json>', 'JSON, @file, or - for standard input')
    .option('--at <time>', 'when it happened; now if absent')
    .option('--id <id>', 'an event with a known id does nothing');
  withService(tell).action(async (userId: string, event: string, options: EventOptions) => {
    const metadata =
      options.metadata === undefined
        ? undefined
        : await readJson(context, options.metadata, '--metadata');
    const body = {
      ...{ userId, event },
      ...given('value', options.value),
      ...given('traceId', options.trace),
      ...given('sessionId', options.session),
      ...given('metadata', metadata),
      ...given('timestamp', options.at),
      ...given('id', options.id),
    };
    const answer = await clientFor(context, options).send(api.createUserEvent, { body });
    printAnswer(context, options, answer.body, (view) => listUserEvents([answer.body], view));
  });
  const list = addCommand(users, {
    usage: 'events',
    summary: 'what users did, latest first',
    example: 'svc users events --user ada --event hours_saved --last 30d',
  })
    .option('--user <id>', 'only those of this user')
    .option('--event <name>', 'only of this name');
  withService(addTimes(addPaging(list))).action(async (options: EventsOptions) => {
    const query = {
      ...pageOf(options),
      ...given('userId', options.user),
      ...given('event', options.event),
      ...given('fromTimestamp', fromOf(options)),
      ...given('toTimestamp', options.to),
    };
    const { body } = await clientFor(context, options).send(api.listUserEvents, { query });
    printPage(context, options, body, listUserEvents);
  });
};

export const addUsers = (program: Command, context: Context): void => {
  const users = program.command('users').description('who uses agents, and what they did');
  addProfiles(users, context);
  addEvents(users, context);
};

const typeOption = () => new Option('--type <type>', 'what it is').choices([...commentedTypes]);

type CommentsOptions = ServiceOptions &
  PagingOptions & { type?: string; on?: string; author?: string };

export const addComments = (program: Command, context: Context): void => {
  const comments = program
    .command('comments')
    .description('comments on traces, observations, sessions and prompts');
  const list = addCommand(comments, {
    usage: 'list',
    summary: 'comments, newest first; on an object by its type and id',
    example: 'svc comments list --type TRACE --on 5f1c…',
  })
    .addOption(typeOption())
    .option('--on <id>', 'only those on the object of this id; needs --type')
    .option('--author <id>', 'only those of this user');
  withService(addPaging(list)).action(async (options: CommentsOptions) => {
    const query = {
      ...pageOf(options),
      ...given('objectType', options.type),
      ...given('objectId', options.on),
      ...given('authorUserId', options.author),
    };
    const { body } = await clientFor(context, options).send(api.listComments, { query });
    printPage(context, options, body, listComments);
  });
  const show = addCommand(comments, {
    usage: 'show <comment>',
    summary: 'one comment',
    example: 'svc comments show cmt-…',
  });
  withService(show).action(async (commentId: string, options: ServiceOptions) => {
    const params = { commentId };
    const { body } = await clientFor(context, options).send(api.getComment, { params });
    printAnswer(context, options, body, () => describeComment(body));
  });
  const add = addCommand(comments, {
    usage: 'add <object> <text>',
    summary: 'comment on a trace, an observation, a session or a prompt',
    example: "svc comments add 5f1c… 'Why did it refund twice?'",
  })
    .addOption(typeOption().default('TRACE'))
    .option('--author <id>', 'whose remark it is');
  withService(add).action(
    async (
      objectId: string,
      content: string,
      options: ServiceOptions & { type: (typeof commentedTypes)[number]; author?: string },
    ) => {
      const body = {
        ...{ objectId, content, objectType: options.type },
        ...given('authorUserId', options.author),
      };
      const answer = await clientFor(context, options).send(api.createComment, { body });
      printAnswer(context, options, answer.body, () => `the comment ${answer.body.id} is there`);
    },
  );
};
