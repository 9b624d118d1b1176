/** `svc worlds task`: tasks that a project stores. */
import { type Command, Option } from 'commander';
import { AppError } from '#domain/error.ts';
import {
  createTask,
  deleteTask,
  getTask,
  listTasks,
  saveSessionTask,
  updateTask,
  validateTask,
} from '#wire/public-api/operations.ts';
import { readTaskFile } from '../files/input.ts';
import type { Context } from '../terminal/context.ts';
import { usageError } from '../views/report.ts';
import { describeTask, listTasks as tasksText, validationText } from '../views/task.ts';
import {
  addCommand,
  addressWith,
  addVersion,
  addWorldVersion,
  clientFor,
  collect,
  given,
  parseNumber,
  printAnswer,
  type ServiceOptions,
  setVerdict,
  withService,
} from './command.ts';
import { addListCommand, addRequestCommand } from './request-command.ts';
import { addTaskInit } from './task-init.ts';
import { addProve } from './task-prove.ts';
import { addTaskSchema } from './task-schema.ts';

type TaskOptions = ServiceOptions & {
  taskFile?: string;
  session?: string;
  name?: string;
  world?: string;
  versionId?: string;
  version?: string;
  message?: string;
  idempotencyKey?: string;
};

const addTaskText = (command: Command): Command =>
  command
    .option('--name <name>', 'display name')
    .option('-m, --message <text>', 'reason for the new version');

const addCreate = (tasks: Command, context: Context): void => {
  const command = addCommand(tasks, {
    usage: 'create [world]',
    summary: 'store a task of a world, or the inline task of a session; @<version> pins it',
    example: [
      'svc worlds task create crm --task-file renew.json --name "renew a contract"',
      'svc worlds task create --session ses-… --name "as it was tried"',
    ].join('\n'),
  })
    .option('--task-file <file>', 'the task, as JSON; - reads standard input')
    .option('--session <id>', 'id of the session whose inline task is stored')
    .option('--version-id <id>', 'id of the world version to which the task is pinned')
    .option(
      '--idempotency-key <key>',
      'key of this command: repeating it with the same key stores no second task',
    );
  withService(addWorldVersion(addTaskText(command))).action(
    async (world: string | undefined, options: TaskOptions) => {
      const { taskFile, session, name, message, versionId, version, idempotencyKey: key } = options;
      const client = clientFor(context, options);
      const headers = key === undefined ? {} : { 'idempotency-key': key };
      const text = { ...given('name', name), ...given('message', message) };
      const send = async () => {
        if (session !== undefined) {
          if ((world ?? taskFile ?? version) !== undefined) {
            throw usageError('give --session, or a world with --task-file');
          }
          const params = { sessionId: session };
          return client.send(saveSessionTask, { params, headers, body: text });
        }
        if (world === undefined || taskFile === undefined) {
          throw usageError('name the world, and give the task with --task-file');
        }
        const spec = await readTaskFile(context, taskFile);
        const body = { world: addressWith(world, version), spec, ...given('versionId', versionId) };
        return client.send(createTask, { headers, body: { ...body, ...text } });
      };
      const { body } = await send();
      printAnswer(context, options, body, (view) => describeTask(body, view));
    },
  );
};

/** Converts `<key>=<value>` texts into the query that filters by metadata. */
const metadataQuery = (pairs: readonly string[]): Record<string, string> =>
  Object.fromEntries(
    pairs.map((pair) => {
      const at = pair.indexOf('=');
      if (at < 1) throw usageError(`"${pair}" does not have the form <key>=<value>`);
      return [`metadata.${pair.slice(0, at)}`, pair.slice(at + 1)];
    }),
  );

const addList = (tasks: Command, context: Context): void => {
  addListCommand(tasks, context, {
    usage: 'list',
    summary: 'list the stored tasks of the project, newest first',
    example: 'svc worlds task list --world crm --metadata difficulty=hard',
    filters: { world: new Option('--world <slug>', 'only tasks of this world') },
    options: (command) =>
      command.option(
        '--metadata <key=value>',
        'only tasks with this metadata; repeatable',
        collect,
      ),
    operation: listTasks,
    input: (_words, { metadata = [] }: { metadata?: string[] }) => ({
      query: metadataQuery(metadata),
    }),
    text: tasksText,
  });
};

const taskVersion = {
  about: "number of the task's version",
  formerly: 'task-version',
  parse: parseNumber({ min: 1, max: 1_000_000, whole: true }),
};

const addShow = (tasks: Command, context: Context): void => {
  addRequestCommand(tasks, context, {
    usage: 'show <task>',
    summary: 'show a task: its current spec, or that of an earlier version, and its history',
    example: 'svc worlds task show tsk-… --version 2 --json',
    options: (command) => addVersion(command, taskVersion),
    operation: getTask,
    input: ([taskId], { version }: { version?: number }) => ({
      params: { taskId },
      query: given('version', version),
    }),
    text: describeTask,
  });
};

type ValidateOptions = ServiceOptions & {
  world?: string;
  versionId?: string;
  version?: number;
};

const addValidate = (tasks: Command, context: Context): void => {
  const command = addCommand(tasks, {
    usage: 'validate <task>',
    summary: 'check whether a task fits its world, or another version of it; exit status 1 if not',
    example: 'svc worlds task validate tsk-… --world crm@stable',
    decides: true,
  })
    .option(
      '--world <world>',
      'the world to check against; <world>@<version> for one of its versions',
    )
    .option('--version-id <id>', "number of the world's version to check against");
  withService(addVersion(command, taskVersion)).action(
    async (taskId: string, options: ValidateOptions) => {
      const body = {
        ...given('world', options.world),
        ...given('versionId', options.versionId),
        ...given('version', options.version),
      };
      const answer = await clientFor(context, options).send(validateTask, {
        params: { taskId },
        body,
      });
      const found = answer.body;
      printAnswer(context, options, found, () => validationText(found, context.colors));
      setVerdict(context, found.valid);
      if (!found.valid)
        throw new AppError(
          'invalid',
          `the task does not fit its world: ${found.problems.length} problems`,
        );
    },
  );
};

const addUpdate = (tasks: Command, context: Context): void => {
  addRequestCommand(tasks, context, {
    usage: 'update <task>',
    summary:
      'change a task: a new spec becomes its next version; a new name or world makes no version',
    example: 'svc worlds task update tsk-… --task-file renew.json -m "clearer"',
    options: (command) =>
      addTaskText(
        command
          .option('--task-file <file>', 'the task, as JSON; - reads standard input')
          .option('--world <world>', 'world of the task; <world>@<version> pins it')
          .option(
            '--version-id <id>',
            'id of the world version to which the task is pinned; "none" removes the pin',
          ),
      ),
    operation: updateTask,
    input: async ([taskId], options: TaskOptions) => {
      const { taskFile, world, name, message, versionId } = options;
      const body = {
        ...(taskFile === undefined ? {} : { spec: await readTaskFile(context, taskFile) }),
        ...given('world', world),
        ...given('versionId', versionId === 'none' ? null : versionId),
        ...given('name', name),
        ...given('message', message),
      };
      if (Object.keys(body).length === 0)
        throw usageError('name a change: --task-file, --name or another option, see --help');
      return { params: { taskId }, body };
    },
    text: describeTask,
  });
};

const addDelete = (tasks: Command, context: Context): void => {
  addRequestCommand(tasks, context, {
    usage: 'delete <task>',
    summary: 'delete a task with all its versions; open sessions keep their copy',
    example: 'svc worlds task delete tsk-… --yes',
    options: (command) => command.option('--yes', 'confirm'),
    operation: deleteTask,
    input: ([taskId], { yes }: { yes?: boolean }) => {
      if (yes !== true) throw usageError(`add --yes to delete ${taskId}; this cannot be undone`);
      return { params: { taskId } };
    },
    text: ({ id }) => `${id} is deleted`,
  });
};

/** Adds the group `task` to `svc worlds`. */
export const addTasks = (worlds: Command, context: Context): void => {
  const tasks = worlds.command('task').description('tasks that the project stores');
  addCreate(tasks, context);
  addList(tasks, context);
  addShow(tasks, context);
  addValidate(tasks, context);
  addUpdate(tasks, context);
  addDelete(tasks, context);
  addProve(tasks, context);
  addTaskInit(tasks, context);
  addTaskSchema(tasks, context);
};
