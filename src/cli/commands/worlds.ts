/** `svc worlds`: the group of everything about worlds and their sessions. */
import type { Command } from 'commander';
import type { Context } from '../context.ts';
import { addSchema } from './schema/schema.ts';
import { addSessions } from './sessions.ts';
import { addWorldsCreate } from './worlds-create.ts';
import { addWorldsDescribe } from './worlds-describe.ts';
import { addWorldsList } from './worlds-list.ts';
import { addWorldsRequests } from './worlds-requests.ts';
import { addWorldsTemplates } from './worlds-templates.ts';

export const addWorlds = (program: Command, context: Context): void => {
  const worlds = program
    .command('worlds')
    .description('create worlds, look at them, open sessions');
  addWorldsCreate(worlds, context);
  addWorldsList(worlds, context);
  addWorldsDescribe(worlds, context);
  addWorldsTemplates(worlds, context);
  addWorldsRequests(worlds, context);
  addSchema(worlds, context);
  addSessions(worlds, context);
};
