/** Formats stored tasks for a person. */
import type {
  StoredTaskDetail,
  StoredTaskView,
  TaskValidation,
} from '#wire/public-api/worlds/task.ts';
import type { Colors, View } from '../terminal/context.ts';
import { cutLine, formatAgo, formatCount, formatFields } from '../terminal/print.ts';
import { formatFitted } from './fitted-table.ts';

const worldText = ({ world, pin }: StoredTaskView): string =>
  pin === null ? world : `${world}@${pin.number}`;

/** Formats the tasks of a project, one a line. */
export const listTasks = (tasks: readonly StoredTaskView[], view: View): string =>
  formatFitted(
    ['ID', 'NAME', 'WORLD', 'VERSION', 'CHANGED'],
    tasks.map((task) => [
      task.id,
      cutLine(task.name ?? '-'),
      worldText(task),
      String(task.version),
      formatAgo(task.updatedAt),
    ]),
    view,
    { none: 'no stored tasks; "svc worlds task create" stores one', cut: ['NAME'] },
  );

type Spec = StoredTaskDetail['spec'];

const seedText = ({ seed }: Spec): string => {
  if (seed === undefined) return 'none';
  const counts = Object.entries(seed.rows).map(([entity, rows]) => `${entity} ${rows.length}`);
  return `${seed.mode ?? 'append'}: ${counts.join(', ') || 'no rows'}`;
};

const graderText = ({ grader }: Spec): string => {
  if (grader === undefined) return 'none';
  return grader.kind === 'assertions' ? formatCount(grader.checks.length, 'check') : grader.kind;
};

const specFields = (spec: Spec): [string, string][] => [
  ['instruction', cutLine(spec.instruction ?? '-')],
  ['tools', spec.tools?.join(', ') ?? 'all'],
  ['seed', seedText(spec)],
  ['grader', graderText(spec)],
  ['metadata', JSON.stringify(spec.metadata ?? {})],
];

/** Formats one task with its spec and its versions. */
export const describeTask = (task: StoredTaskDetail, view: View): string => {
  const history = formatFitted(
    ['VERSION', 'MADE', 'AUTHOR', 'MESSAGE'],
    task.versions.map(({ version, createdAt, author, message }) => [
      String(version),
      formatAgo(createdAt),
      author ?? '-',
      cutLine(message ?? ''),
    ]),
    view,
    { cut: ['AUTHOR', 'MESSAGE'] },
  );
  return [
    formatFields([
      ['id', task.id],
      ['name', task.name ?? '-'],
      ['world', worldText(task)],
      ['version', `${task.shownVersion} of ${task.version}`],
      ['hash', task.contentHash],
      ...specFields(task.spec),
    ]),
    '',
    history,
  ].join('\n');
};

/** Formats the result of a validation. */
export const validationText = (found: TaskValidation, colors: Colors): string => {
  const { valid, taskId, version, world, worldVersion, problems } = found;
  const where = `version ${version} of ${taskId} in ${world}@${worldVersion}`;
  if (valid) return `${where} is valid`;
  const lines = problems.map(({ path, message }) => `  ${colors.bold(path.join('.'))}: ${message}`);
  return [`${where} is not valid:`, ...lines].join('\n');
};
