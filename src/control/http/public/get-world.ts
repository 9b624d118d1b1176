/** GET /worlds/{slug} */
import { getWorld as operation } from '#wire/public-api/operations.ts';
import { findProjectPath } from '../../db/keys.ts';
import type { Parts } from '../../parts.ts';
import { findHead } from '../../worlds/head.ts';
import { viewWorldDetail } from '../../worlds/view.ts';
import { endpoint, respond } from '../endpoint.ts';

export const getWorld = (parts: Pick<Parts, 'db' | 'publicUrl' | 'versions'>) =>
  endpoint(operation, async ({ params }, { caller: { projectId } }) => {
    const { world, head } = await findHead(parts, projectId, params.slug);
    const place = {
      publicUrl: parts.publicUrl(),
      project: await findProjectPath(parts.db, projectId),
    };
    return respond(200, viewWorldDetail(world, head, place));
  });
