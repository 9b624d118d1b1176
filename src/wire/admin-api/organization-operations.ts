/** Operations of operators on organizations: they create them, appoint owners, and raise the quotas of projects. */
import { limits } from '#domain/limits.ts';
import { getOperation, operation } from '../operation.ts';
import { MadeKeyView, MadeTokenView, OrganizationView } from '../public-api/projects/account.ts';
import { ProjectSettingsView, QuotasChange } from '../public-api/projects/settings.ts';
import { nullable } from '../schemas.ts';
import { type Static, Type } from '../type.ts';

const strict = { additionalProperties: false } as const;
const slugPattern = '^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$';
const Slug = Type.String({ maxLength: limits.idChars, pattern: slugPattern });
const Email = Type.String({ minLength: 3, maxLength: 254 });
const Name = Type.String({ minLength: 1, maxLength: limits.nameChars, pattern: '\\S' });

/** An organization with the numbers of its projects and members. */
export const OrganizationReport = Type.Object({
  ...OrganizationView.properties,
  projects: Type.Integer(),
  members: Type.Integer(),
});
export type OrganizationReport = Static<typeof OrganizationReport>;

export const listOrganizations = getOperation({
  id: 'listOrganizations',
  summary: 'The organizations, the oldest first; 1,000 at most',
  path: '/organizations',
  access: 'admin',
  answer: Type.Object({ organizations: Type.Array(OrganizationReport) }),
});

export const createOrganization = operation({
  id: 'createOrganization',
  summary: 'Create an organization with a key pair of its own, and its first owner if one is named',
  method: 'POST',
  path: '/organizations',
  access: 'admin',
  body: Type.Object({ slug: Slug, name: Type.Optional(Name), owner: Type.Optional(Email) }, strict),
  answers: {
    201: Type.Object({
      organization: OrganizationView,
      apiKey: MadeKeyView,
      token: nullable(MadeTokenView),
    }),
  },
  refusals: { 409: 'The slug is taken.' },
});
export type MadeOrganizationView = Static<(typeof createOrganization)['answers'][201]>;

export const addOwner = operation({
  id: 'addOwner',
  summary:
    'Make a person an owner of an organization, and create a token for that person, valid for 90 days',
  method: 'POST',
  path: '/organizations/{organization}/owners',
  access: 'admin',
  params: Type.Object({ organization: Slug }),
  body: Type.Object({ email: Email, name: Type.Optional(Name) }, strict),
  answers: { 201: MadeTokenView },
});

export const giveQuotas = operation({
  id: 'giveQuotas',
  summary: "Set quotas and a rate limit of a project; they may exceed the installation's",
  method: 'PATCH',
  path: '/organizations/{organization}/projects/{project}/quotas',
  access: 'admin',
  params: Type.Object({ organization: Slug, project: Slug }),
  body: Type.Object(
    {
      quotas: Type.Optional(QuotasChange),
      rateLimit: Type.Optional(nullable(Type.Integer({ minimum: 1, maximum: 10_000_000 }))),
    },
    { ...strict, minProperties: 1 },
  ),
  answers: { 200: ProjectSettingsView },
});
