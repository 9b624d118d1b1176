/** Worlds archived and deleted, and what a deleted one leaves when its time is over. */
import { type Queryable, statement } from '../core/database.ts';
import { projectPath } from '../projects/keys.ts';

const archiveStatement = statement(
  'archive_world',
  `update worlds set archived_at = case when :archived then coalesce(archived_at, now()) end
    where id = :id and deleted_at is null returning id`,
);

/** Archives a world, or takes it back; false when it is not there any more. */
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

/** Deletes a world, whose slug is free then; false when it is not there any more. */
export const deleteWorld = async (db: Queryable, id: string): Promise<boolean> =>
  (await db.query(deleteStatement, [id])).length > 0;

// Sessions are looked for by their project: there is an index of those that are open.
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
 * Gives up the blobs of one world that was deleted so long ago, when none of its sessions is open nor a host holds it:
 * as those of dead uploads, with which they are collected. False when there is no such world.
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

/** Deleted worlds that have bytes still, those that go first, with how many there are. */
export const listDeletedWorlds = (
  db: Queryable,
  values: { graceMinutes: number; most: number },
): Promise<DeletedWorld[]> => db.query<DeletedWorld>(goingStatement, values);
