/** `svc worlds archive` and `delete`: archive worlds, restore them, and delete them. */
import type { Command } from 'commander';
import { archiveWorld, deleteWorld } from '#wire/public-api/operations.ts';
import type { Context } from '../terminal/context.ts';
import { usageError } from '../views/report.ts';
import { addRequestCommand } from './request-command.ts';

const addArchive = (worlds: Command, context: Context): void => {
  addRequestCommand(worlds, context, {
    usage: 'archive <world>',
    summary: 'archive a world: it stays readable, but takes no sessions and no pushes',
    example: 'svc worlds archive crm\nsvc worlds archive crm --undo',
    options: (command) => command.option('--undo', 'restore an archived world'),
    operation: archiveWorld,
    input: ([slug], { undo }: { undo?: boolean }) => ({
      params: { slug },
      body: { archived: undo !== true },
    }),
    text: ({ archived }, _view, [slug]) =>
      archived ? `${slug} is archived` : `${slug} is restored`,
  });
};

const addDelete = (worlds: Command, context: Context): void => {
  addRequestCommand(worlds, context, {
    usage: 'delete <world>',
    summary: 'delete a world with all its versions; open sessions continue',
    example: 'svc worlds delete crm --yes',
    options: (command) => command.option('--yes', 'confirm: deletion cannot be undone'),
    operation: deleteWorld,
    input: ([slug], { yes }: { yes?: boolean }) => {
      if (yes !== true) {
        throw usageError(
          `deleting "${slug}" and all its versions cannot be undone: add --yes to confirm`,
        );
      }
      return { params: { slug } };
    },
    text: (_body, _view, [slug]) => `${slug} is deleted`,
  });
};

export const addWorldsEnd = (worlds: Command, context: Context): void => {
  addArchive(worlds, context);
  addDelete(worlds, context);
};
