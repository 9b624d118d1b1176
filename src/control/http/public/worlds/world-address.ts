/** Serves the address of a world, below `/world`, outside the API, to callers that may read the world. */
import { operation } from '#wire/operation.ts';
import { WorldParams } from '#wire/public-api/worlds/version.ts';
import { WorldDetail } from '#wire/public-api/worlds/world.ts';
import { Type } from '#wire/type.ts';
import type { Parts } from '../../../parts.ts';
import { type Endpoint, endpoint, respond } from '../../server/endpoint.ts';
import { pageHeaders, writeWorldPage } from './world-page.ts';
import { viewAddressed } from './worlds.ts';

const openWorld = operation({
  id: 'openWorld',
  summary: 'The address of a world: its descriptor, or a page for people',
  method: 'GET',
  path: '/{slug}',
  access: 'read',
  params: WorldParams,
  headers: Type.Object({ accept: Type.Optional(Type.String({ maxLength: 2_000 })) }),
  answers: { 200: WorldDetail },
});

/** Headers that forbid shared caching: the answer depends on the `Accept` header and on the caller. */
const kept = { 'cache-control': 'private, no-cache', vary: 'accept, authorization' };

export const worldAddressEndpoints = (parts: Parts): Endpoint[] => [
  endpoint(openWorld, async ({ params, headers }, { caller: { projectId } }) => {
    const world = await viewAddressed(parts, projectId, params.slug);
    if (headers.accept?.includes('text/html') !== true) {
      return { ...respond(200, world), headers: kept };
    }
    // The page is sent as bytes in place of the declared body.
    const page = Buffer.from(writeWorldPage(world)) as unknown as WorldDetail;
    return { ...respond(200, page), headers: { ...kept, ...pageHeaders } };
  }),
];
