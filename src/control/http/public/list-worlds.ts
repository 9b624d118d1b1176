/** GET /environments */
import { listWorlds as operation } from '#wire/public-api/operations.ts';
import { worldFields } from '../../contracts/contract-view.ts';
import { findProjectPath } from '../../db/keys.ts';
import { listWorlds as list } from '../../db/worlds.ts';
import type { Parts } from '../../parts.ts';
import { viewWorldList } from '../../worlds/view.ts';
import { endpoint, respond } from '../endpoint.ts';
import { readFields, toMeta, toRange } from '../paging.ts';

type Needs = Pick<Parts, 'db' | 'publicUrl' | 'versions'>;

export const listWorlds = ({ db, publicUrl, versions }: Needs) =>
  endpoint(operation, async ({ query }, { caller: { projectId } }) => {
    const fields = readFields(query.fields, worldFields);
    const { rows, total } = await list(db, projectId, toRange(query));
    const place = { publicUrl: publicUrl(), project: await findProjectPath(db, projectId) };
    const data = await viewWorldList(versions, rows, place, fields);
    return respond(200, { data, meta: toMeta(query, total) });
  });
