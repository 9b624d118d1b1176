/** Formats organizations, projects, members, keys and tokens for a person. */
import type {
  MadeOrganizationView,
  OrganizationReport,
} from '#wire/admin-api/organization-operations.ts';
import type {
  AuditEntryView,
  KeyView,
  MadeKeyView,
  MadeTokenView,
  MembershipView,
  OrganizationView,
  ProjectView,
  TokenView,
} from '#wire/public-api/projects/account.ts';
import { type ProjectSettingsView, settableQuotas } from '#wire/public-api/projects/settings.ts';
import type { View } from '../terminal/context.ts';
import { cutLine, formatAgo, formatCount, formatFields } from '../terminal/print.ts';
import { formatFitted } from './fitted-table.ts';

const used = (time: string | null): string => (time === null ? 'never' : formatAgo(time));

export const describeOrganization = ({ id, slug, name, browserTier }: OrganizationView): string =>
  formatFields([
    ['organization', slug],
    ['name', name],
    ['id', id],
    ['browser tier', browserTier ?? 'standard'],
  ]);

export const describeOrganizations = (
  organizations: readonly OrganizationReport[],
  view: View,
): string =>
  formatFitted(
    ['ORGANIZATION', 'NAME', 'PROJECTS', 'MEMBERS', 'ID'],
    organizations.map(({ slug, name, projects, members, id }) => [
      ...[slug, cutLine(name), String(projects), String(members), id],
    ]),
    view,
    { cut: ['NAME'] },
  );

export const describeMadeOrganization = (made: MadeOrganizationView): string =>
  [
    describeOrganization(made.organization),
    '',
    'its key pair; the secret key is shown only now:',
    `  SVC_ORGANIZATION_PUBLIC_KEY=${made.apiKey.publicKey}`,
    `  SVC_ORGANIZATION_SECRET_KEY=${made.apiKey.secretKey}`,
    ...(made.token === null ? [] : ['', describeMadeToken(made.token)]),
  ].join('\n');

export const describeProjects = (projects: readonly ProjectView[], view: View): string =>
  formatFitted(
    ['PROJECT', 'NAME', 'ORGANIZATION', 'ID'],
    projects.map(({ slug, name, organization, id }) => [
      ...[slug, cutLine(name), cutLine(organization.name), id],
    ]),
    view,
    { none: 'the key or token has access to no project', cut: ['NAME', 'ORGANIZATION'] },
  );

export const describeProject = ({ id, slug, name }: ProjectView): string =>
  formatFields([
    ['project', slug],
    ['name', name],
    ['id', id],
  ]);

export const describeMembers = (
  members: readonly MembershipView[],
  none: string,
  view: View,
): string =>
  formatFitted(
    ['MEMBER', 'ROLE', 'NAME', 'ID'],
    members.map(({ email, role, name, userId }) => [
      ...[email, role.toLowerCase(), cutLine(name), userId],
    ]),
    view,
    { none, cut: ['NAME'] },
  );

export const describeKeys = (keys: readonly KeyView[], view: View): string =>
  formatFitted(
    ['KEY', 'PUBLIC KEY', 'SECRET KEY', 'NOTE', 'USED'],
    keys.map(({ id, publicKey, displaySecretKey, note, lastUsedAt }) => [
      ...[id, publicKey, displaySecretKey, cutLine(note ?? ''), used(lastUsedAt)],
    ]),
    view,
    { none: 'there are no key pairs' },
  );

export const describeMadeKey = (
  { id, publicKey, secretKey }: MadeKeyView,
  isOrganizations: boolean,
): string => {
  const name = isOrganizations ? 'SVC_ORGANIZATION_' : 'SVC_';
  return [
    `${id} was created; its secret key is shown only now:`,
    `  ${name}PUBLIC_KEY=${publicKey}`,
    `  ${name}SECRET_KEY=${secretKey}`,
  ].join('\n');
};

const reachOf = ({ projectIds }: TokenView): string =>
  projectIds === null ? 'all' : formatCount(projectIds.length, 'project');

export const describeTokens = (tokens: readonly TokenView[], view: View): string =>
  formatFitted(
    ['TOKEN', 'OF', 'NAME', 'SCOPES', 'PROJECTS', 'ENDS', 'USED'],
    tokens.map((token) => [
      ...[token.id, token.email, cutLine(token.name), token.scopes.join(' ')],
      ...[reachOf(token), token.expiresAt.slice(0, 10), used(token.lastUsedAt)],
    ]),
    view,
    { none: 'there are no tokens' },
  );

export const describeMadeToken = ({ id, email, token, expiresAt }: MadeTokenView): string =>
  [
    `${id} of ${email} was created, valid until ${expiresAt.slice(0, 10)}; it is shown only now:`,
    `  SVC_API_TOKEN=${token}`,
  ].join('\n');

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Returns the members of nested objects by their paths, such as `quotas.sessions`. */
const flatten = (value: Record<string, unknown> | null, path = ''): [string, string][] =>
  Object.entries(value ?? {}).flatMap(([name, member]) =>
    isRecord(member)
      ? flatten(member, `${path}${name}.`)
      : [[`${path}${name}`, typeof member === 'string' ? member : JSON.stringify(member)]],
  );

/** Formats the fields that an audit entry changed. */
const changeOf = ({ before, after }: AuditEntryView): string => {
  const [from, to] = [new Map(flatten(before)), new Map(flatten(after))];
  return [...new Set([...from.keys(), ...to.keys()])]
    .filter((name) => from.get(name) !== to.get(name))
    .map((name) => {
      const [was, is] = [from.get(name), to.get(name)];
      return was === undefined ? `${name} ${is}` : `${name} ${was} → ${is ?? 'none'}`;
    })
    .join(', ');
};

export const describeAudit = (entries: readonly AuditEntryView[], view: View): string =>
  formatFitted(
    ['WHEN', 'WHO', 'WHAT', 'OF', 'CHANGE'],
    entries.map((entry) => [
      ...[entry.at, cutLine(entry.actor.name), entry.action, entry.subject],
      cutLine(changeOf(entry)),
    ]),
    view,
    { none: 'there are no changes yet' },
  );

export const describeSettings = (settings: ProjectSettingsView): string => {
  const {
    webhookPush,
    webhookPushSince,
    sessionTraces,
    browserTier,
    gate,
    rateLimit,
    eventsPerMonth,
    quotas,
    set,
  } = settings;
  const own = (name: string): string => (set.includes(name) ? '  (set by the project)' : '');
  return formatFields([
    ['webhook-push', webhookPush ? `on, since ${webhookPushSince}` : 'off'],
    ['session-traces', sessionTraces ? 'on' : 'off'],
    ['browser-tier', `${browserTier}${own('browserTier')}`],
    ['gate-threshold', `${gate.threshold}${own('gate.threshold')}`],
    ['gate-floor', `${gate.floor}${own('gate.floor')}`],
    [
      'rate-limit',
      `${rateLimit === null ? 'off' : `${rateLimit} requests a minute`}${own('rateLimit')}`,
    ],
    ['events-per-month', `${eventsPerMonth ?? 'any number'}${own('eventsPerMonth')}`],
    ...settableQuotas.map(
      (name) => [`quota ${name}`, `${quotas[name]}${own(`quotas.${name}`)}`] as const,
    ),
  ]);
};
