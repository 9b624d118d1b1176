/** `svc worlds versions`: lists the versions of a world. */
import type { Command } from 'commander';
import { listVersions } from '#wire/public-api/operations.ts';
import type { Context } from '../terminal/context.ts';
import { listVersions as versionsText } from '../views/version.ts';
import { addListCommand } from './request-command.ts';

export const addWorldsVersions = (worlds: Command, context: Context): void => {
  addListCommand(worlds, context, {
    usage: 'versions <world>',
    summary: 'list the versions of a world, newest first: author and changes',
    example: 'svc worlds versions crm\nsvc worlds session open crm@2',
    operation: listVersions,
    input: ([slug]) => ({ params: { slug } }),
    text: versionsText,
  });
};
