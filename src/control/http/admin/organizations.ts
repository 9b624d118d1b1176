/** Endpoints by which operators manage organizations. */
import { AppError } from '#domain/error.ts';
import * as api from '#wire/admin-api/operations.ts';
import { listOrganizations } from '../../db/projects/organizations.ts';
import { findProjectByPath } from '../../db/projects/projects.ts';
import type { Parts } from '../../parts.ts';
import {
  addOwner,
  createOrganization,
  operator,
  viewOrganization,
} from '../../projects/accounts/organizations.ts';
import { updateSettings } from '../../projects/accounts/settings.ts';
import { type Endpoint, endpoint, respond } from '../server/endpoint.ts';

export const organizationEndpoints = ({ db, config, log }: Parts): Endpoint[] => [
  endpoint(api.listOrganizations, async () => {
    const rows = await listOrganizations(db);
    const organizations = rows.map((row) => ({
      ...viewOrganization(row),
      projects: row.projects,
      members: row.members,
    }));
    return respond(200, { organizations });
  }),

  endpoint(api.createOrganization, async ({ body: { slug, name = slug, owner } }) => {
    const made = await createOrganization(db, { slug, name, owner });
    log.info({ slug, owner }, 'organization made by an operator');
    return respond(201, made);
  }),

  endpoint(api.addOwner, async ({ params: { organization }, body }) => {
    const token = await addOwner(db, organization, body);
    log.info({ organization, email: token.email }, 'owner named by an operator');
    return respond(201, token);
  }),

  endpoint(api.giveQuotas, async ({ params: { organization, project }, body }) => {
    const found = await findProjectByPath(db, organization, project);
    if (found === undefined) {
      throw new AppError('not_found', `there is no project "${organization}/${project}"`);
    }
    const changer = { organizationId: found.organizationId, actor: operator };
    const allowance = { usual: config, isOperator: true };
    return respond(200, await updateSettings(db, changer, found.id, body, allowance));
  }),
];
