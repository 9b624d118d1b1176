/** POST /worlds */
import { createWorld as operation } from '#wire/public-api/operations.ts';
import { findProjectPath } from '../../db/keys.ts';
import type { Parts } from '../../parts.ts';
import { createWorld as create } from '../../worlds/create.ts';
import { findHead } from '../../worlds/head.ts';
import { viewWorldDetail } from '../../worlds/view.ts';
import { endpoint, respond } from '../endpoint.ts';

type Needs = Pick<Parts, 'blobs' | 'compiler' | 'config' | 'db' | 'log' | 'publicUrl' | 'versions'>;

export const createWorld = (parts: Needs) =>
  endpoint(operation, async ({ body }, { caller: { projectId }, signal }) => {
    const { db, publicUrl } = parts;
    await create(parts, projectId, body, signal);
    const { world, head } = await findHead(parts, projectId, body.slug);
    const place = { publicUrl: publicUrl(), project: await findProjectPath(db, projectId) };
    return respond(201, viewWorldDetail(world, head, place));
  });
