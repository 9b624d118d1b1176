/** Audit log of organizations. Entries are only added, and contain no secrets. */
import { newId } from '#domain/id.ts';
import { type Queryable, statement } from '../core/database.ts';
import type { Read } from '../core/lists.ts';
import { toRead } from '../core/lists.ts';

/** Author of a change: a user with a token, a key by its public key, an operator, or the configuration. */
export type Actor = {
  kind: 'user' | 'organization_key' | 'key_pair' | 'operator' | 'configuration';
  id: string;
  /** Name to show: an e-mail address or a public key. */
  name: string;
};

/**
 * Change of one object. `before` and `after` show the object without secrets; null if it did not exist before or does
 * not exist afterwards.
 */
export type Change = {
  organizationId: string;
  projectId: string | null;
  actor: Actor;
  /** Noun and verb that name the change, such as `member.add`. */
  action: string;
  /** Id of the object that was changed. */
  subject: string;
  before: object | null;
  after: object | null;
};

const insertStatement = statement(
  'insert_audit_entry',
  `insert into audit_entries (id, organization_id, project_id, actor_kind, actor_id, actor_name, action, subject,
                              before, after)
   values (:id, :organizationId, :projectId, :kind, :actorId, :actorName, :action, :subject, :before, :after)`,
);

const textOf = (value: object | null): string | null =>
  value === null ? null : JSON.stringify(value);

/**
 * Adds an entry. The caller must do this in the transaction of the change, so that neither the entry nor the change
 * exists alone.
 */
export const recordChange = async (
  db: Queryable,
  { actor, before, after, ...change }: Change,
): Promise<void> => {
  const { kind, id: actorId, name: actorName } = actor;
  const texts = { before: textOf(before), after: textOf(after) };
  await db.query(insertStatement, {
    id: newId('aud'),
    ...change,
    ...{ kind, actorId, actorName },
    ...texts,
  });
};

export type AuditRow = Change & { id: string; at: Date; atText: string };

const listStatement = statement(
  'list_audit_entries',
  `select id, organization_id as "organizationId", project_id as "projectId", at, at::text as "atText",
          json_build_object('kind', actor_kind, 'id', actor_id, 'name', actor_name) as actor,
          action, subject, before, after
     from audit_entries
    where organization_id = :organizationId and (:projectId::text is null or project_id = :projectId)
      and (:at::timestamptz is null or (at, id) < (:at::timestamptz, :id))
    order by at desc, id desc limit :limit + 1`,
);

/**
 * Cursor into the log: the position of the last entry on a page. The time is text from the database, which is more
 * precise than a `Date`.
 */
export type AuditPosition = { atText: string; id: string };

/** Lists a page of entries, newest first. If a project is given, only the entries of that project are listed. */
export const listAudit = async (
  db: Queryable,
  of: { organizationId: string; projectId: string | null },
  { limit, from }: { limit: number; from: AuditPosition | undefined },
): Promise<Read<AuditRow>> => {
  const position = { at: from?.atText ?? null, id: from?.id ?? null };
  return toRead(await db.query<AuditRow>(listStatement, { ...of, ...position, limit }), limit);
};
