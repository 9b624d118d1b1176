/** GET /environments */
import { listWorlds as operation } from '#wire/public-api/operations.ts';
import { findProjectPath } from '../../db/keys.ts';
import { listWorlds as list } from '../../db/worlds.ts';
import type { Parts } from '../../parts.ts';
import { viewWorld } from '../../worlds/view.ts';
import { endpoint, respond } from '../endpoint.ts';
import { toMeta, toRange } from '../paging.ts';

type Needs = Pick<Parts, 'db' | 'publicUrl' | 'versions'>;

export const listWorlds = ({ db, publicUrl, versions }: Needs) =>
  endpoint(operation, async ({ query }, { caller: { projectId } }) => {
    const { rows, total } = await list(db, projectId, toRange(query));
    const heads = await versions.getMany(rows.map(({ headVersionId }) => headVersionId));
    const place = { publicUrl: publicUrl(), project: await findProjectPath(db, projectId) };
    const data = rows.flatMap((world) => {
      const head = heads.get(world.headVersionId);
      return head === undefined ? [] : viewWorld(world, head, place);
    });
    return respond(200, { data, meta: toMeta(query, total) });
  });
