/** `svc queues`: annotation queues, their items, and the people assigned to them. */
import { type Command, Option } from 'commander';
import { objectTypes, queueStates } from '#wire/public-api/evaluation/annotation.ts';
import * as api from '#wire/public-api/operations.ts';
import type { Context } from '../terminal/context.ts';
import { describeQueue, describeQueueItem, listQueueItems, listQueues } from '../views/dataset.ts';
import { collect, given } from './command.ts';
import { addListCommand, addRequestCommand } from './request-command.ts';

const addQueueList = (queues: Command, context: Context): void => {
  addListCommand(queues, context, {
    usage: 'list',
    summary: 'list the annotation queues of the project, newest first',
    example: 'svc queues list',
    operation: api.listQueues,
    text: listQueues,
  });
  addRequestCommand(queues, context, {
    usage: 'show <queue>',
    summary: 'show a queue',
    example: 'svc queues show anq-… --json',
    operation: api.getQueue,
    input: ([queueId]) => ({ params: { queueId } }),
    text: describeQueue,
  });
};

type CreateOptions = { description?: string; scoreConfig: string[] };

const addCreate = (queues: Command, context: Context): void => {
  addRequestCommand(queues, context, {
    usage: 'create <name>',
    summary: 'create a queue with the score configs for its items',
    example: 'svc queues create "odd answers" --score-config scc-…',
    options: (command) =>
      command
        .requiredOption('--score-config <id>', 'id of a score config; repeatable', collect)
        .option('--description <text>', 'instructions for the reviewers'),
    operation: api.createQueue,
    input: ([name], { description, scoreConfig }: CreateOptions) => ({
      body: { name, scoreConfigIds: scoreConfig, ...given('description', description) },
    }),
    text: describeQueue,
  });
};

const addItems = (queues: Command, context: Context): void => {
  addListCommand(queues, context, {
    usage: 'items <queue>',
    summary: 'list the items of a queue, newest first',
    example: 'svc queues items anq-… --status PENDING',
    filters: {
      status: new Option('--status <status>', 'only items with this status').choices([
        ...queueStates,
      ]),
    },
    operation: api.listQueueItems,
    input: ([queueId]) => ({ params: { queueId } }),
    text: listQueueItems,
  });
};

const addAdd = (queues: Command, context: Context): void => {
  addRequestCommand(queues, context, {
    usage: 'add <queue> <object>',
    summary:
      'add a trace, an observation or a session by its id; if it is in the queue already, nothing changes',
    example: 'svc queues add anq-… <trace>',
    options: (command) =>
      command.addOption(
        new Option('--type <type>', 'type of the object')
          .choices([...objectTypes])
          .default('TRACE'),
      ),
    operation: api.addQueueItem,
    input: ([queueId, objectId], { type }: { type: (typeof objectTypes)[number] }) => ({
      params: { queueId },
      body: { objectId, objectType: type },
    }),
    text: describeQueueItem,
  });
};

/** Adds the commands `complete` and `reopen`. */
const addStatus = (queues: Command, context: Context): void => {
  for (const [name, status, summary] of [
    ['complete', 'COMPLETED', 'mark an item as completed'],
    ['reopen', 'PENDING', 'mark an item as pending again'],
  ] as const) {
    addRequestCommand(queues, context, {
      usage: `${name} <queue> <item>`,
      summary,
      example: `svc queues ${name} anq-… ani-…`,
      operation: api.updateQueueItem,
      input: ([queueId, itemId]) => ({ params: { queueId, itemId }, body: { status } }),
      text: describeQueueItem,
    });
  }
};

const addRemove = (queues: Command, context: Context): void => {
  addRequestCommand(queues, context, {
    usage: 'remove <queue> <item>',
    summary: 'remove an item from a queue',
    example: 'svc queues remove anq-… ani-…',
    operation: api.removeQueueItem,
    input: ([queueId, itemId]) => ({ params: { queueId, itemId } }),
    text: (_body, _view, [, itemId]) => `${itemId} is removed`,
  });
};

const addAssignments = (queues: Command, context: Context): void => {
  addRequestCommand(queues, context, {
    usage: 'assign <queue> <user>',
    summary: 'assign a member of the project; "svc orgs members list" shows the ids',
    example: 'svc queues assign anq-… usr-…',
    operation: api.assignQueue,
    input: ([queueId, userId]) => ({ params: { queueId }, body: { userId } }),
    text: (_body, _view, [queueId, userId]) => `${userId} is assigned to ${queueId}`,
  });
  addRequestCommand(queues, context, {
    usage: 'unassign <queue> <user>',
    summary: 'remove the assignment of a member',
    example: 'svc queues unassign anq-… usr-…',
    operation: api.unassignQueue,
    input: ([queueId, userId]) => ({ params: { queueId }, body: { userId } }),
    text: (_body, _view, [queueId, userId]) => `${userId} is not assigned to ${queueId} any more`,
  });
};

export const addQueues = (program: Command, context: Context): void => {
  const queues = program
    .command('queues')
    .description('annotation queues: items to review, and their reviewers');
  for (const add of [addQueueList, addCreate, addItems, addAdd, addStatus, addRemove]) {
    add(queues, context);
  }
  addAssignments(queues, context);
};
