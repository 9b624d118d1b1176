/** Blobs of the head versions of worlds, which hosts load. */
import type { Digest } from '#domain/world.ts';
import { type Queryable, statement } from '../core/database.ts';
import { projectPath } from '../projects/keys.ts';
import type { VersionRow } from './worlds.ts';

const findHeadStatement = statement(
  'find_head_blobs',
  `select v.id, v.number, v.bundle, v.snapshot
     from worlds w join versions v on v.id = w.head_version_id where w.id = $1`,
);

type HeadRow = Pick<VersionRow, 'id' | 'number' | 'bundle' | 'snapshot'>;

/**
 * Returns those blobs of a world's head version that hosts load. The version's contract is not read. Returns undefined
 * if there is none.
 */
export const findHeadBlobs = async (db: Queryable, worldId: string): Promise<HeadRow | undefined> =>
  (await db.query<HeadRow>(findHeadStatement, [worldId]))[0];

const headBlobsStatement = statement(
  'head_blobs',
  `select ${projectPath('w.project_id')} || '/' || w.slug as world, v.bundle, v.snapshot,
          (count(*) over ())::int as total
     from worlds w join versions v on v.id = w.head_version_id
    where w.deleted_at is null
    order by w.created_at desc, w.id desc limit $1`,
);

/** Blobs of a world's head version that hosts load, and the number of all worlds. */
export type HeadBlobs = { world: string; bundle: Digest; snapshot: Digest; total: number };

/** Lists the blobs that sessions of the newest worlds need. The worlds may be of any project. */
export const listHeadBlobs = (db: Queryable, most: number): Promise<HeadBlobs[]> =>
  db.query<HeadBlobs>(headBlobsStatement, [most]);

const pageOfHeadsStatement = statement(
  'page_of_head_blobs',
  `select w.id, ${projectPath('w.project_id')} || '/' || w.slug as world, v.bundle, v.snapshot,
          (select count(*) from worlds where deleted_at is null)::int as total
     from worlds w join versions v on v.id = w.head_version_id
    where ($2::text is null or w.id < $2) and w.deleted_at is null
    order by w.id desc limit $1`,
);

/**
 * Lists the blobs of `listHeadBlobs` in pages, by the ids of worlds, newest first. `after` is the last id of the
 * previous page.
 */
export const pageOfHeadBlobs = (
  db: Queryable,
  limit: number,
  after: string | null,
): Promise<(HeadBlobs & { id: string })[]> =>
  db.query<HeadBlobs & { id: string }>(pageOfHeadsStatement, [limit, after]);
