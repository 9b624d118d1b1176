/** Archives and deletes worlds, and releases the blobs of deleted worlds after a grace period. */
import { type Queryable, statement } from '../core/database.ts';
import { projectPath } from '../projects/keys.ts';

const archiveStatement = statement(
  'archive_world',
  `update worlds set archived_at = case when :archived then coalesce(archived_at, now()) end
    where id = :id and deleted_at is null returning id`,
);

/** Archives or restores a world. Returns false if the world was deleted. */
export const archiveWorld = async (
  db: Queryable,
  id: string,
  archived: boolean,
): Promise<boolean> => (await db.query(archiveStatement, { id, archived })).length > 0;

const deleteStatement = statement(
  'delete_world',
  `update worlds set deleted_at = now(), former_slug = slug, slug = id
    where id = $1 and deleted_at is null returning id`,
);

/** Deletes a world, which makes its slug free. Returns false if the world was already deleted. */
export const deleteWorld = async (db: Queryable, id: string): Promise<boolean> =>
  (await db.query(deleteStatement, [id])).length > 0;

// The search for sessions goes by project, because an index covers the open ones of a project.
const emptyStatement = statement(
  'empty_deleted_world',
  `with world as (
     select w.id from worlds w
      where w.deleted_at < now() - make_interval(mins => :graceMinutes::int) and w.emptied_at is null
        and not exists (select from sessions s
                         where s.project_id = w.project_id and s.world_id = w.id and s.closed_at is null)
        and not exists (select from versions t join version_links l on l.target_id = t.id
                          join sessions s on s.project_id = w.project_id and s.version_id = l.version_id
                         where t.world_id = w.id and s.closed_at is null)
        and not exists (select from versions v join hosts h on h.version_id = v.id and h.state <> 'gone'
                         where v.world_id = w.id)
        and not exists (select from versions v where v.world_id = w.id and v.blobs is null)
      order by w.deleted_at limit 1 for update skip locked
   ), held as (
     select v.id, v.project_id, v.blobs from versions v join world on v.world_id = world.id
   ), emptied as (
     update versions v set blobs = '{}', bytes = 0 from held where v.id = held.id
   ), done as (
     update worlds w set emptied_at = now() from world where w.id = world.id
   )
   insert into uploads (id, project_id, blobs, bytes, began_at, makes_world)
   select 'upl-of-' || id, project_id, blobs, 0, '-infinity', false from held where blobs <> '{}'
   returning id`,
);

/**
 * Releases the blobs of one world that was deleted at least `graceMinutes` minutes ago, if none of its sessions is open
 * and no host has it loaded. The blobs are garbage-collected like those of dead uploads. Returns false if there is no
 * such world.
 */
export const emptyDeletedWorld = async (db: Queryable, graceMinutes: number): Promise<boolean> =>
  (await db.query(emptyStatement, { graceMinutes })).length > 0;

const goingStatement = statement(
  'list_deleted_worlds',
  `select ${projectPath('w.project_id')} || '/' || w.former_slug as world, w.deleted_at as "deletedAt",
          w.deleted_at + make_interval(mins => :graceMinutes::int) as "keptUntil",
          (count(*) over ())::int as total
     from worlds w where w.deleted_at is not null and w.emptied_at is null
    order by w.deleted_at limit :most`,
);

export type DeletedWorld = { world: string; deletedAt: Date; keptUntil: Date; total: number };

/**
 * Lists deleted worlds whose bytes are not released yet, starting with the one to be released next, and counts all of
 * them.
 */
export const listDeletedWorlds = (
  db: Queryable,
  values: { graceMinutes: number; most: number },
): Promise<DeletedWorld[]> => db.query<DeletedWorld>(goingStatement, values);
