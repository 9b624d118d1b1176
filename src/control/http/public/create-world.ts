/** POST /worlds */
import { AppError } from '#domain/error.ts';
import { createWorld as operation } from '#wire/public-api/operations.ts';
import { findWorld } from '../../db/worlds.ts';
import type { Parts } from '../../parts.ts';
import { createWorld as create } from '../../worlds/create.ts';
import { viewWorldDetail } from '../../worlds/view.ts';
import { endpoint, respond } from '../endpoint.ts';

type Needs = Pick<Parts, 'blobs' | 'compiler' | 'config' | 'db' | 'publicUrl' | 'versions'>;

export const createWorld = ({ blobs, compiler, config, db, publicUrl, versions }: Needs) =>
  endpoint(operation, async ({ body }, { caller: { projectId }, signal }) => {
    const { templatesDir } = config;
    await create({ db, blobs, compiler, templatesDir }, projectId, body, signal);
    const world = await findWorld(db, projectId, body.slug);
    const head = world && (await versions.get(world.headVersionId));
    if (world === undefined || head === undefined) {
      throw new AppError('internal', `world ${body.slug} was not written`);
    }
    return respond(201, viewWorldDetail(world, head, publicUrl()));
  });
