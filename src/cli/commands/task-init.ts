/**
 * `svc worlds task init`: writes a starter task file, without the service. Its grader fails on every change that is
 * neither required nor allowed. Its solution lets the author prove the task.
 */
import { existsSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { AppError } from '#domain/error.ts';
import type { Context } from '../terminal/context.ts';
import { addCommand } from './command.ts';

/** Contents of the file. The author replaces the names in it. */
const begun = {
  instruction: 'Say what the agent must do, and what it must leave unchanged.',
  seed: { mode: 'append', rows: {} },
  grader: {
    kind: 'assertions',
    checks: [{ name: 'order 1 is paid', entity: 'orders', where: { id: 1, status: 'paid' } }],
    changes: { closed: true, allow: [{ entity: 'orders', fields: ['updated_at'] }] },
  },
  solution: { steps: [{ tool: 'update_orders', input: { id: 1, status: 'paid' } }] },
};

const next = (file: string): string =>
  [
    `${file} is a starter task: replace its instruction, checks and solution by your own`,
    'svc worlds task schema > task.schema.json      # then "$schema" has editors complete it',
    `svc worlds task prove <world> --task-file ${file}`,
    '',
  ].join('\n');

export const addTaskInit = (tasks: Command, context: Context): void => {
  addCommand(tasks, {
    usage: 'init [file]',
    summary:
      'write a starter task file that fails every change it neither requires nor allows; works without a service',
    example: 'svc worlds task init renew.json',
  })
    .option('--force', 'overwrite an existing file')
    .action((file: string | undefined, { force }: { force?: boolean }) => {
      const name = file ?? 'task.json';
      const path = resolve(context.cwd, name);
      if (existsSync(path) && force !== true) {
        throw new AppError('conflict', `${name} exists already; add --force to overwrite it`);
      }
      writeFileSync(path, `${JSON.stringify(begun, null, 2)}\n`);
      context.out.write(next(name));
    });
};
