/** `svc queues`: annotation queues, their items, and the people assigned to them. */
import { type Command, Option } from 'commander';
import { objectTypes, queueStates } from '#wire/public-api/evaluation/annotation.ts';
import * as api from '#wire/public-api/operations.ts';
import type { Context } from '../terminal/context.ts';
import { describeQueue, describeQueueItem, listQueueItems, listQueues } from '../views/dataset.ts';
import {
  addCommand,
  addPaging,
  clientFor,
  collect,
  type PagingOptions,
  pageOf,
  printAnswer,
  printPage,
  type ServiceOptions,
  withService,
} from './command.ts';

const addQueueList = (queues: Command, context: Context): void => {
  const list = addCommand(queues, {
    usage: 'list',
    summary: 'the annotation queues of the project, newest first',
    example: 'svc queues list',
  });
  withService(addPaging(list)).action(async (options: ServiceOptions & PagingOptions) => {
    const query = pageOf(options);
    const { body } = await clientFor(context, options).send(api.listQueues, { query });
    printPage(context, options, body, listQueues);
  });
  const show = addCommand(queues, {
    usage: 'show <queue>',
    summary: 'one queue',
    example: 'svc queues show anq-… --json',
  });
  withService(show).action(async (queueId: string, options: ServiceOptions) => {
    const params = { queueId };
    const { body } = await clientFor(context, options).send(api.getQueue, { params });
    printAnswer(context, options, body, () => describeQueue(body));
  });
};

type CreateOptions = ServiceOptions & { description?: string; scoreConfig: string[] };

const addCreate = (queues: Command, context: Context): void => {
  const command = addCommand(queues, {
    usage: 'create <name>',
    summary: 'make a queue, whose items are scored by some score configs',
    example: 'svc queues create "odd answers" --score-config scc-…',
  })
    .requiredOption('--score-config <id>', 'a score config; repeatable', collect)
    .option('--description <text>', 'what is to be looked at');
  withService(command).action(async (name: string, options: CreateOptions) => {
    const { description, scoreConfig: scoreConfigIds } = options;
    const body = { name, scoreConfigIds, ...(description === undefined ? {} : { description }) };
    const answer = await clientFor(context, options).send(api.createQueue, { body });
    printAnswer(context, options, answer.body, () => describeQueue(answer.body));
  });
};

type ItemsOptions = ServiceOptions & PagingOptions & { status?: string };

const addItems = (queues: Command, context: Context): void => {
  const list = addCommand(queues, {
    usage: 'items <queue>',
    summary: 'what is in a queue, newest first',
    example: 'svc queues items anq-… --status PENDING',
  }).addOption(new Option('--status <status>', 'only these').choices([...queueStates]));
  withService(addPaging(list)).action(async (queueId: string, options: ItemsOptions) => {
    const { status } = options;
    const query = { ...pageOf(options), ...(status === undefined ? {} : { status }) };
    const input = { params: { queueId }, query };
    const { body } = await clientFor(context, options).send(api.listQueueItems, input);
    printPage(context, options, body, listQueueItems);
  });
};

type AddOptions = ServiceOptions & { type: (typeof objectTypes)[number] };

const addAdd = (queues: Command, context: Context): void => {
  const command = addCommand(queues, {
    usage: 'add <queue> <object>',
    summary: 'add a trace, an observation or a session by its id; a queue has it once',
    example: 'svc queues add anq-… <trace>',
  }).addOption(
    new Option('--type <type>', 'what it is').choices([...objectTypes]).default('TRACE'),
  );
  withService(command).action(async (queueId: string, objectId: string, options: AddOptions) => {
    const input = { params: { queueId }, body: { objectId, objectType: options.type } };
    const { body } = await clientFor(context, options).send(api.addQueueItem, input);
    printAnswer(context, options, body, () => describeQueueItem(body));
  });
};

/** Adds `complete` and `reopen`. */
const addStatus = (queues: Command, context: Context): void => {
  for (const [name, status, summary] of [
    ['complete', 'COMPLETED', 'note that an item was looked at'],
    ['reopen', 'PENDING', 'have an item looked at again'],
  ] as const) {
    const command = addCommand(queues, {
      usage: `${name} <queue> <item>`,
      summary,
      example: `svc queues ${name} anq-… ani-…`,
    });
    withService(command).action(
      async (queueId: string, itemId: string, options: ServiceOptions) => {
        const input = { params: { queueId, itemId }, body: { status } };
        const { body } = await clientFor(context, options).send(api.updateQueueItem, input);
        printAnswer(context, options, body, () => describeQueueItem(body));
      },
    );
  }
};

const addRemove = (queues: Command, context: Context): void => {
  const command = addCommand(queues, {
    usage: 'remove <queue> <item>',
    summary: 'remove an item from a queue',
    example: 'svc queues remove anq-… ani-…',
  });
  withService(command).action(async (queueId: string, itemId: string, options: ServiceOptions) => {
    const params = { queueId, itemId };
    const { body } = await clientFor(context, options).send(api.removeQueueItem, { params });
    printAnswer(context, options, body, () => `${itemId} is removed`);
  });
};

const addAssignments = (queues: Command, context: Context): void => {
  const assign = addCommand(queues, {
    usage: 'assign <queue> <user>',
    summary: 'assign a member of the project, by the id that "svc orgs members list" shows',
    example: 'svc queues assign anq-… usr-…',
  });
  withService(assign).action(async (queueId: string, userId: string, options: ServiceOptions) => {
    const input = { params: { queueId }, body: { userId } };
    const { body } = await clientFor(context, options).send(api.assignQueue, input);
    printAnswer(context, options, body, () => `${userId} is assigned to ${queueId}`);
  });
  const unassign = addCommand(queues, {
    usage: 'unassign <queue> <user>',
    summary: 'end the assignment of a person',
    example: 'svc queues unassign anq-… usr-…',
  });
  withService(unassign).action(async (queueId: string, userId: string, options: ServiceOptions) => {
    const input = { params: { queueId }, body: { userId } };
    const { body } = await clientFor(context, options).send(api.unassignQueue, input);
    printAnswer(context, options, body, () => `${userId} is not assigned to ${queueId} any more`);
  });
};

export const addQueues = (program: Command, context: Context): void => {
  const queues = program.command('queues').description('traces to review, and their reviewers');
  for (const add of [addQueueList, addCreate, addItems, addAdd, addStatus, addRemove]) {
    add(queues, context);
  }
  addAssignments(queues, context);
};
