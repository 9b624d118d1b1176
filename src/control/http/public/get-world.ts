/** GET /worlds/{slug} */
import { AppError } from '#domain/error.ts';
import { getWorld as operation } from '#wire/public-api/operations.ts';
import { findWorld } from '../../db/worlds.ts';
import type { Parts } from '../../parts.ts';
import { viewWorldDetail } from '../../worlds/view.ts';
import { endpoint, respond } from '../endpoint.ts';

export const getWorld = ({
  db,
  publicUrl,
  versions,
}: Pick<Parts, 'db' | 'publicUrl' | 'versions'>) =>
  endpoint(operation, async ({ params }, { caller: { projectId } }) => {
    const world = await findWorld(db, projectId, params.slug);
    const head = world && (await versions.get(world.headVersionId));
    if (world === undefined || head === undefined) {
      throw new AppError('not_found', `there is no world "${params.slug}"`);
    }
    return respond(200, viewWorldDetail(world, head, publicUrl()));
  });
