/**
 * Request and answer schemas of organizations, projects, members, keys and tokens. Names and shapes are those of the
 * compatible API: `memberships`, `apiKeys`, `displaySecretKey`, roles in capitals.
 */
import { mostTokenDays, roles, tokenScopes } from '#domain/account.ts';
import { limits } from '#domain/limits.ts';
import { browserTiers } from '#domain/session.ts';
import { Id, IdempotencyHeaders, nullable, oneOf, Timestamp } from '../../schemas.ts';
import { type Static, Type } from '../../type.ts';

const strict = { additionalProperties: false } as const;

export const RoleName = oneOf(roles);
/** Roles that a project may give. A project has no owners, since owners belong to an organization. */
export const ProjectRoleName = oneOf(roles.filter((role) => role !== 'OWNER'));

const Name = Type.String({ minLength: 1, maxLength: limits.nameChars, pattern: '\\S' });
const Email = Type.String({
  minLength: 3,
  maxLength: 254,
  description: 'e-mail address of the user',
});
const Note = Type.String({
  maxLength: limits.nameChars,
  description: 'purpose of the key, for people',
});

export const Metadata = Type.Record(Type.String({ maxLength: limits.nameChars }), Type.Unknown(), {
  maxProperties: 100,
  description: 'metadata that the client stores; 16 KB at most',
});

export const OrganizationView = Type.Object({
  id: Type.String(),
  slug: Type.String(),
  name: Type.String(),
  browserTier: nullable(oneOf(browserTiers, 'default browser tier for projects that set none')),
  createdAt: Timestamp,
});
export type OrganizationView = Static<typeof OrganizationView>;

export const OrganizationChange = Type.Object(
  {
    name: Type.Optional(Name),
    browserTier: Type.Optional(nullable(oneOf(browserTiers))),
  },
  { ...strict, minProperties: 1 },
);

export const ProjectView = Type.Object({
  id: Type.String(),
  name: Type.String(),
  slug: Type.String(),
  organization: Type.Object({ id: Type.String(), name: Type.String() }),
  metadata: Type.Record(Type.String(), Type.Unknown()),
  createdAt: Timestamp,
});
export type ProjectView = Static<typeof ProjectView>;

export const NewProject = Type.Object(
  {
    name: Name,
    slug: Type.Optional(
      Type.String({
        pattern: '^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$',
        description:
          'name of the organization in pools files and for operators; derived from `name` if absent',
      }),
    ),
    metadata: Type.Optional(Metadata),
  },
  strict,
);

export const ProjectChange = Type.Object(
  { name: Type.Optional(Name), metadata: Type.Optional(Metadata) },
  { ...strict, minProperties: 1 },
);

/** A member of an organization, or of a project with the role that the project gives. */
export const MembershipView = Type.Object({
  userId: Type.String(),
  role: RoleName,
  email: Type.String(),
  name: Type.String(),
});
export type MembershipView = Static<typeof MembershipView>;

export const NewMembership = Type.Object(
  {
    userId: Type.Optional(Id),
    email: Type.Optional(Email),
    name: Type.Optional(Type.String({ minLength: 1, maxLength: limits.nameChars })),
    role: RoleName,
  },
  strict,
);

export const NewProjectMembership = Type.Object(
  { userId: Type.Optional(Id), email: Type.Optional(Email), role: ProjectRoleName },
  strict,
);

export const FormerMembership = Type.Object({ userId: Id }, strict);

export const KeyView = Type.Object({
  id: Type.String(),
  createdAt: Timestamp,
  expiresAt: Type.Null({ description: 'keys are valid until they are revoked' }),
  lastUsedAt: nullable(Timestamp),
  note: nullable(Type.String()),
  publicKey: Type.String(),
  displaySecretKey: Type.String({ description: 'last four characters of the secret key' }),
});
export type KeyView = Static<typeof KeyView>;

export const NewKey = Type.Optional(Type.Object({ note: Type.Optional(nullable(Note)) }, strict));

export const MadeKeyView = Type.Object({
  id: Type.String(),
  createdAt: Timestamp,
  note: nullable(Type.String()),
  publicKey: Type.String(),
  secretKey: Type.String({ description: 'the secret key, shown only in this answer' }),
  displaySecretKey: Type.String(),
});
export type MadeKeyView = Static<typeof MadeKeyView>;

export const TokenView = Type.Object({
  id: Type.String(),
  userId: Type.String(),
  email: Type.String(),
  name: Type.String(),
  displayToken: Type.String({ description: 'last four characters of the token' }),
  scopes: Type.Array(oneOf(tokenScopes)),
  projectIds: nullable(
    Type.Array(Type.String(), {
      description: 'the projects that the token gives access to; null: every project of its user',
    }),
  ),
  createdBy: Type.String(),
  createdAt: Timestamp,
  expiresAt: Timestamp,
  lastUsedAt: nullable(Timestamp),
});
export type TokenView = Static<typeof TokenView>;

export const NewToken = Type.Object(
  {
    name: Name,
    userId: Type.Optional(Id),
    email: Type.Optional(Email),
    scopes: Type.Optional(
      Type.Array(oneOf(tokenScopes), {
        minItems: 1,
        maxItems: tokenScopes.length,
        uniqueItems: true,
        description: 'projects that the token gives access to; default: all',
      }),
    ),
    projectIds: Type.Optional(Type.Array(Id, { minItems: 1, maxItems: 100, uniqueItems: true })),
    expiresInDays: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: mostTokenDays,
        description: 'days for which the token is valid; default 90',
      }),
    ),
  },
  strict,
);

export const MadeTokenView = Type.Object({
  ...TokenView.properties,
  token: Type.String({ description: 'the token, shown only in this answer' }),
});
export type MadeTokenView = Static<typeof MadeTokenView>;

export const AuditEntryView = Type.Object({
  id: Type.String(),
  at: Timestamp,
  projectId: nullable(Type.String()),
  actor: Type.Object({
    kind: oneOf(['user', 'organization_key', 'key_pair', 'operator', 'configuration']),
    id: Type.String(),
    name: Type.String(),
  }),
  action: Type.String(),
  subject: Type.String({ description: 'id of the changed object' }),
  before: nullable(Type.Record(Type.String(), Type.Unknown())),
  after: nullable(Type.Record(Type.String(), Type.Unknown())),
});
export type AuditEntryView = Static<typeof AuditEntryView>;

/**
 * Headers of operations that create an object and return its secret. The secret is not stored, so a repeated request
 * returns the created object without it.
 */
export const OnceHeaders = IdempotencyHeaders;
