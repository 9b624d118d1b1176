/** GET /worlds/{slug}/tasks */
import { listWorldTasks as operation } from '#wire/public-api/operations.ts';
import type { Parts } from '../../parts.ts';
import { findHead } from '../../worlds/head.ts';
import { taskFields, viewTasks } from '../../worlds/view.ts';
import { endpoint, respond } from '../endpoint.ts';
import { readFields } from '../paging.ts';

export const listWorldTasks = (parts: Pick<Parts, 'db' | 'versions'>) =>
  endpoint(operation, async ({ params, query }, { caller: { projectId } }) => {
    const { head } = await findHead(parts, projectId, params.slug);
    const fields = readFields(query.fields, taskFields);
    return respond(200, { versionId: head.id, data: viewTasks(head.contract, query.name, fields) });
  });
