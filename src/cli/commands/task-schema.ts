/** `svc worlds task schema`: prints the JSON Schema of task files, for editors. It does not need the service. */
import type { Command } from 'commander';
import { taskFileSchema } from '#wire/public-api/worlds/task-file-schema.ts';
import type { Context } from '../terminal/context.ts';
import { formatJson } from '../terminal/print.ts';
import { addCommand } from './command.ts';

export const addTaskSchema = (tasks: Command, context: Context): void => {
  addCommand(tasks, {
    usage: 'schema',
    summary: 'print the JSON Schema of task files, for editors; no service is needed',
    example: 'svc worlds task schema > task.schema.json',
  }).action(() => {
    context.out.writeExactly(formatJson(taskFileSchema()));
  });
};
