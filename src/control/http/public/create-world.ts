/** POST /worlds */
import { AppError } from '#domain/error.ts';
import { createWorld as operation } from '#wire/public-api/operations.ts';
import { findWorld } from '../../db/worlds.ts';
import type { Parts } from '../../parts.ts';
import { createWorld as create } from '../../worlds/create.ts';
import { viewWorldDetail } from '../../worlds/view.ts';
import { endpoint, respond } from '../endpoint.ts';

type Needs = Pick<Parts, 'blobs' | 'config' | 'db' | 'publicUrl' | 'versions'>;

export const createWorld = ({ blobs, config, db, publicUrl, versions }: Needs) =>
  endpoint(operation, async ({ body }, { caller: { projectId } }) => {
    await create({ db, blobs, templatesDir: config.templatesDir }, projectId, body);
    const world = await findWorld(db, projectId, body.slug);
    const head = world && (await versions.get(world.headVersionId));
    if (world === undefined || head === undefined) {
      throw new AppError('internal', `world ${body.slug} was not written`);
    }
    return respond(201, viewWorldDetail(world, head, publicUrl()));
  });
