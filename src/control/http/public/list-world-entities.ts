/** GET /worlds/{slug}/entities */
import { AppError } from '#domain/error.ts';
import { listWorldEntities as operation } from '#wire/public-api/operations.ts';
import type { EntityView } from '#wire/public-api/runtime.ts';
import { JsonText } from '../../json/json-text.ts';
import type { Parts } from '../../parts.ts';
import { findHead } from '../../worlds/head.ts';
import { endpoint, respond } from '../endpoint.ts';

/** What strangers' schemas allow is found out where it can be ended, over the bundle of the version. */
export const listWorldEntities = (parts: Pick<Parts, 'blobs' | 'compiler' | 'db' | 'versions'>) =>
  endpoint(operation, async ({ params }, { caller: { projectId }, signal }) => {
    const { head } = await findHead(parts, projectId, params.slug);
    const world = { digest: head.bundle, project: projectId };
    const described = await parts.compiler.run(
      { kind: 'describe-entities', world },
      { project: projectId, signal, supply: () => parts.blobs.get(head.bundle) },
    );
    if (!described.ok) {
      throw new AppError('timeout', `the entities of "${params.slug}" take too long to describe`);
    }
    const data = new JsonText(described.entitiesJson) as unknown as EntityView[];
    return respond(200, { versionId: head.id, data });
  });
