/**
 * `svc dashboards` and `svc task-sets`: pages about the telemetry of a project, their code, and the task sets that
 * they show.
 */
import { resolve } from 'node:path';
import { type Command, Option } from 'commander';
import { type CodeProblem, dashboardTemplates } from '#domain/dashboard.ts';
import { AppError } from '#domain/error.ts';
import * as api from '#wire/public-api/operations.ts';
import { noteDashboard, readDashboard, writeDashboard } from '../files/dashboard-folder.ts';
import { readText } from '../files/input.ts';
import { replaceFile } from '../files/write-tree.ts';
import type { Context } from '../terminal/context.ts';
import {
  describeDashboard,
  describeTaskSet,
  describeTried,
  listDashboards,
  listTaskSets,
} from '../views/dashboard.ts';
import { ProblemsError, usageError } from '../views/report.ts';
import {
  addCommand,
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

const mostListed = 200;

const addList = (dashboards: Command, context: Context): void => {
  addRequestCommand(dashboards, context, {
    usage: 'ls',
    summary: 'list the dashboards of the project, newest first',
    example: 'svc dashboards ls --limit 200',
    options: (command) =>
      command.option(
        '--limit <n>',
        'maximum number of dashboards',
        parseNumber({ min: 1, max: mostListed }),
      ),
    operation: api.listDashboards,
    input: (_words, { limit }: { limit?: number }) => ({ query: given('limit', limit) }),
    text: (body, view) => listDashboards(body.data, view),
  }).alias('list');
  addRequestCommand(dashboards, context, {
    usage: 'get <dashboard>',
    summary: 'show a dashboard; with --json also its code',
    example: 'svc dashboards get dsh-… --json',
    operation: api.getDashboard,
    input: ([dashboardId]) => ({ params: { dashboardId } }),
    text: describeDashboard,
  }).alias('show');
};

const addDelete = (dashboards: Command, context: Context): void => {
  addRequestCommand(dashboards, context, {
    usage: 'delete <dashboard>',
    summary: 'delete a dashboard and its code; its task set or world is not deleted',
    example: 'svc dashboards delete dsh-…',
    operation: api.deleteDashboard,
    input: ([dashboardId]) => ({ params: { dashboardId } }),
    text: (_body, _view, [dashboardId]) => `${dashboardId} is deleted`,
  }).alias('rm');
};

type CreateOptions = {
  description?: string;
  taskSet?: string;
  world?: string;
  template?: (typeof dashboardTemplates)[number];
};

const addCreate = (dashboards: Command, context: Context): void => {
  addRequestCommand(dashboards, context, {
    usage: 'create <name>',
    summary: 'create a dashboard of sessions, of the tasks of a task set, or of a world',
    example: 'svc dashboards create "checkout" --task-set tset-…',
    options: (command) =>
      command
        .option('--description <text>', 'description of the dashboard')
        .addOption(
          new Option('--task-set <id>', 'the task set that the dashboard shows').conflicts('world'),
        )
        .option('--world <world>', 'the world that the dashboard shows, by slug or id')
        .addOption(
          new Option('--template <name>', 'template for the first code').choices([
            ...dashboardTemplates,
          ]),
        ),
    operation: api.createDashboard,
    input: ([name], options: CreateOptions) => ({
      body: {
        name,
        ...given('description', options.description),
        ...given('taskSetId', options.taskSet),
        ...given('environmentId', options.world),
        ...given('template', options.template),
      },
    }),
    text: describeDashboard,
  });
};

const addPull = (dashboards: Command, context: Context): void => {
  const command = addCommand(dashboards, {
    usage: 'pull <dashboard> [folder]',
    summary: "write the code of a dashboard into a folder (default: named by the dashboard's id)",
    example: 'svc dashboards pull dsh-… ./checkout',
  });
  withService(command).action(
    async (dashboardId: string, folder: string | undefined, options: ServiceOptions) => {
      const params = { dashboardId };
      const { body } = await clientFor(context, options).send(api.getDashboard, { params });
      const place = folder ?? dashboardId;
      const written = writeDashboard(context, place, body);
      const answer = { id: body.id, folder: place, stamp: body.stamp, written };
      printAnswer(context, options, answer, () => `${written.join('\n')}\nin ${place}`);
    },
  );
};

/** Adds the problems and their places to the error of rejected code. */
const withPlaces = (error: unknown): unknown => {
  if (!(error instanceof AppError) || error.detail.error !== 'dashboard_code_rejected')
    return error;
  const problems = (error.detail.problems as CodeProblem[]).map(
    ({ path, line, column, code, message }) => ({
      ...{ file: path ?? '', pointer: '', code, message },
      ...(line === null || column === null ? {} : { line, column }),
    }),
  );
  return new ProblemsError('the code', problems, [], 'was rejected');
};

type PushOptions = ServiceOptions & { dashboard?: string; dryRun?: boolean; force?: boolean };

const addPush = (dashboards: Command, context: Context): void => {
  const command = addCommand(dashboards, {
    usage: 'push [folder]',
    summary: 'replace the code of a dashboard with the code in a folder',
    example: 'svc dashboards push ./checkout --dry-run',
  })
    .option('--dashboard <id>', 'the dashboard (default: the one that the folder was pulled from)')
    .option('--dry-run', 'check everything but write nothing')
    .option('--force', 'overwrite the code even if it changed since the pull');
  withService(command).action(async (folder = '.', options: PushOptions) => {
    const { id, stamp, files, entrypoint, transform } = readDashboard(context, folder);
    const dashboardId = options.dashboard ?? id;
    if (dashboardId === null) {
      throw usageError(`${folder} was not pulled from a dashboard: name one with --dashboard`);
    }
    const { force = false, dryRun = false } = options;
    const body = {
      ...{ files, transform, force, dryRun },
      ...given('entrypoint', entrypoint ?? undefined),
      ...given('baseStamp', dashboardId === id ? (stamp ?? undefined) : undefined),
    };
    const input = { params: { dashboardId }, body };
    const pushed = clientFor(context, options).send(api.pushDashboardCode, input);
    const { body: answer } = await pushed.catch((error: unknown) => {
      throw withPlaces(error);
    });
    if (!dryRun) noteDashboard(context, folder, answer);
    const words = dryRun ? 'would be pushed; nothing was written' : 'is pushed';
    printAnswer(context, options, answer, () => `${files.length} files: ${dashboardId} ${words}`);
  });
};

type TestOptions = ServiceOptions & { file?: string; session?: string };

const addTest = (dashboards: Command, context: Context): void => {
  const command = addCommand(dashboards, {
    usage: 'test-transform <dashboard>',
    summary: 'run a transform on a session and show its result',
    example: 'svc dashboards test-transform dsh-… --file transform.js --session ses-…',
    decides: true,
  })
    .option('--file <file>', 'the transform, or - for standard input (default: the stored one)')
    .option('--session <id>', 'the session (default: the newest)');
  withService(command).action(async (dashboardId: string, options: TestOptions) => {
    const { file, session } = options;
    const text =
      file === undefined ? undefined : await readText(context, file === '-' ? '-' : `@${file}`);
    const body = { ...given('transform', text), ...given('sessionId', session) };
    const input = { params: { dashboardId }, body };
    const { body: answer } = await clientFor(context, options).send(api.testTransform, input);
    setVerdict(context, answer.success);
    printAnswer(context, options, answer, () => describeTried(answer));
  });
};

type RenderOptions = ServiceOptions & {
  session?: string;
  taskSet?: string;
  task?: string;
  html?: string;
};

const addRender = (dashboards: Command, context: Context): void => {
  const command = addCommand(dashboards, {
    usage: 'render <dashboard>',
    summary: 'render a dashboard: print a link that is valid for an hour, or write its HTML',
    example: 'svc dashboards render dsh-… --session ses-…',
  })
    .option(
      '--session <id>',
      'for dashboards of sessions: the session to show (default: the newest)',
    )
    .option('--task-set <id>', 'for dashboards of tasks: another task set to show')
    .option('--task <id>', 'for dashboards of tasks: the only task of the set to show')
    .option('--html <file>', 'write the HTML to this file');
  withService(command).action(async (dashboardId: string, options: RenderOptions) => {
    const body = {
      ...given('sessionId', options.session),
      ...given('taskSetId', options.taskSet),
      ...given('taskId', options.task),
      ...(options.html === undefined ? {} : { includeHtml: true }),
    };
    const input = { params: { dashboardId }, body };
    const { body: answer } = await clientFor(context, options).send(api.renderDashboard, input);
    if (!answer.success)
      throw new AppError('invalid', answer.error ?? 'the dashboard was not rendered');
    if (options.html !== undefined) {
      replaceFile(resolve(context.cwd, options.html), answer.html ?? '');
    }
    printAnswer(context, options, answer, () => answer.url ?? '');
  });
};

type SetOptions = { description?: string; task: string[] };

const addTaskSets = (program: Command, context: Context): void => {
  const sets = program.command('task-sets').description('sets of stored tasks, shown together');
  addListCommand(sets, context, {
    usage: 'ls',
    summary: 'list the task sets of the project, newest first',
    example: 'svc task-sets ls',
    operation: api.listTaskSets,
    text: listTaskSets,
  }).alias('list');
  addRequestCommand(sets, context, {
    usage: 'get <set>',
    summary: 'show a task set',
    example: 'svc task-sets get tset-…',
    operation: api.getTaskSet,
    input: ([taskSetId]) => ({ params: { taskSetId } }),
    text: describeTaskSet,
  }).alias('show');
  addRequestCommand(sets, context, {
    usage: 'delete <set>',
    summary: 'delete a task set that no dashboard uses; its tasks are not deleted',
    example: 'svc task-sets delete tset-…',
    operation: api.deleteTaskSet,
    input: ([taskSetId]) => ({ params: { taskSetId } }),
    text: (_body, _view, [taskSetId]) => `${taskSetId} is deleted`,
  }).alias('rm');
  addRequestCommand(sets, context, {
    usage: 'create <name>',
    summary: 'create a task set from stored tasks',
    example: 'svc task-sets create checkout --task tsk-… --task tsk-…',
    options: (command) =>
      command
        .requiredOption('--task <id>', 'id of a stored task; repeatable', collect)
        .option('--description <text>', 'description of the set'),
    operation: api.createTaskSet,
    input: ([name], { task, description }: SetOptions) => ({
      body: { name, taskIds: task, ...given('description', description) },
    }),
    text: describeTaskSet,
  });
};

/** Adds the groups `dashboards` and `task-sets`. */
export const addDashboards = (program: Command, context: Context): void => {
  const dashboards = program
    .command('dashboards')
    .description('dashboards of sessions, tasks and worlds, with code of your own');
  addList(dashboards, context);
  addCreate(dashboards, context);
  addDelete(dashboards, context);
  addPull(dashboards, context);
  addPush(dashboards, context);
  addTest(dashboards, context);
  addRender(dashboards, context);
  addTaskSets(program, context);
};
