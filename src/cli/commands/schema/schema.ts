/** `svc worlds schema`: write world trees, check them, compile them. None of it needs a service. */
import type { Command } from 'commander';
import type { Context } from '../../context.ts';
import { addCheck } from './check.ts';
import { addCompile } from './compile.ts';
import { addEntityAdd } from './entity-add.ts';
import { addEntityRemove } from './entity-remove.ts';
import { addInit } from './init.ts';
import { addJsonSchema } from './json-schema.ts';
import { addReconcile } from './reconcile.ts';
import { addTemplates } from './templates.ts';
import { addTypes } from './types.ts';

export const addSchema = (worlds: Command, context: Context): void => {
  const schema = worlds
    .command('schema')
    .description('write world trees, check and compile them; no service is needed');
  addInit(schema, context);
  addTemplates(schema, context);
  addCheck(schema, context);
  addCompile(schema, context);
  const entity = schema.command('entity').description('entities of schema/world.json');
  addEntityAdd(entity, context);
  addEntityRemove(entity, context);
  addReconcile(schema, context);
  addJsonSchema(schema, context);
  addTypes(schema, context);
};
