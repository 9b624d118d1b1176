/** Endpoint that describes the caller's project. */
import { AppError } from '#domain/error.ts';
import * as api from '#wire/public-api/operations.ts';
import { countProject } from '../../../db/projects/project-summary.ts';
import { findProject } from '../../../db/projects/projects.ts';
import type { Parts } from '../../../parts.ts';
import { type Endpoint, endpoint, respond } from '../../server/endpoint.ts';

export const projectEndpoints = ({ db, publicUrl }: Parts): Endpoint[] => [
  endpoint(api.describeProject, async (_, { caller: { projectId, publicKey, level } }) => {
    const project = await findProject(db, projectId);
    if (project === undefined)
      throw new AppError('not_found', `there is no project "${projectId}"`);
    const { id, slug, name, organizationId, organizationName, createdAt } = project;
    return respond(200, {
      ...{ id, slug, name },
      organization: { id: organizationId, name: organizationName },
      createdAt: createdAt.toISOString(),
      caller: publicKey,
      mayWrite: level === 'secret',
      ...(await countProject(db, projectId)),
      url: `${publicUrl()}/api/public`,
    });
  }),
];
