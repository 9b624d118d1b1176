/** Media: bytes that are attached to traces and to items of datasets, and the links between them. */
import type { Digest } from '#domain/world.ts';
import { type Queryable, statement } from '../core/database.ts';
import type { AwaitedRow } from './awaited-files.ts';
import { awaitedColumns } from './awaited-files.ts';

export type MediaRow = {
  id: string;
  projectId: string;
  digest: Digest;
  bytes: number;
  contentType: string;
  uploadedAt: Date | null;
};

const columns = `id, project_id as "projectId", digest, bytes::float8 as bytes, content_type as "contentType",
  uploaded_at as "uploadedAt"`;

const findStatement = statement(
  'find_media',
  `select ${columns} from media where project_id = $1 and id = $2`,
);

/** Returns the media with this id in a project, even if the bytes have not arrived. */
export const findMedia = async (
  db: Queryable,
  projectId: string,
  id: string,
): Promise<MediaRow | undefined> => (await db.query<MediaRow>(findStatement, [projectId, id]))[0];

const findThereStatement = statement(
  'find_media_that_is_there',
  `select ${columns} from media where project_id = $1 and id = any($2) and uploaded_at is not null`,
);

/** Returns media of a project by their ids. Media whose bytes have not arrived are left out. */
export const findMediaThere = (
  db: Queryable,
  projectId: string,
  ids: readonly string[],
): Promise<MediaRow[]> => db.query<MediaRow>(findThereStatement, [projectId, ids]);

const putStatement = statement(
  'put_media',
  `insert into media (project_id, id, digest, bytes, content_type)
   values (:projectId, :id, :digest, :bytes::bigint, :contentType)
   on conflict (project_id, id) do update set content_type = excluded.content_type, updated_at = now()
   returning ${columns}`,
);

/** Inserts media. If it exists already, updates its content type. */
export const putMedia = async (
  tx: Queryable,
  media: Omit<MediaRow, 'uploadedAt'>,
): Promise<MediaRow> => {
  const [row] = await tx.query<MediaRow>(putStatement, media);
  if (row === undefined) throw new Error('the database returned no row for written media');
  return row;
};

export type MediaLink = {
  projectId: string;
  mediaId: string;
  traceId: string | null;
  observationId: string | null;
  datasetId: string | null;
  datasetItemId: string | null;
  field: string;
};

const linkStatement = statement(
  'link_media',
  `insert into media_links
     (project_id, media_id, trace_id, observation_id, dataset_id, dataset_item_id, field)
   values (:projectId, :mediaId, :traceId, :observationId, :datasetId, :datasetItemId, :field)
   on conflict do nothing`,
);

/** Links media to a trace, an observation or an item of a dataset. Linking them again has no effect. */
export const linkMedia = async (tx: Queryable, link: MediaLink): Promise<void> => {
  await tx.query(linkStatement, link);
};

const awaitedStatement = statement(
  'list_awaited_media',
  `select ${awaitedColumns} from awaited_files
    where project_id = $1 and digest = $2 and path is null
    order by received_at is null, created_at desc limit 8`,
);

/** Lists the pending uploads of media with these bytes: first those whose bytes have arrived, then the newest. */
export const listAwaitedMedia = (
  db: Queryable,
  projectId: string,
  digest: Digest,
): Promise<AwaitedRow[]> => db.query<AwaitedRow>(awaitedStatement, [projectId, digest]);

const uploadedStatement = statement(
  'media_uploaded',
  `update media set uploaded_at = :uploadedAt, upload_status = :status, upload_error = null, updated_at = now()
    where project_id = :projectId and id = :id and uploaded_at is null returning id`,
);

/** Records that the bytes have arrived. Returns false if that was already recorded. */
export const markUploaded = async (
  tx: Queryable,
  { projectId, id }: Pick<MediaRow, 'projectId' | 'id'>,
  { uploadedAt, status }: { uploadedAt: Date; status: number },
): Promise<boolean> =>
  (await tx.query(uploadedStatement, { projectId, id, uploadedAt, status })).length > 0;

const failedStatement = statement(
  'media_failed',
  `update media set upload_status = :status, upload_error = :error, updated_at = now()
    where project_id = :projectId and id = :id and uploaded_at is null`,
);

/** Records that a client could not upload the bytes. */
export const noteFailure = async (
  db: Queryable,
  { projectId, id }: Pick<MediaRow, 'projectId' | 'id'>,
  { status, error }: { status: number; error: string | null },
): Promise<void> => {
  await db.query(failedStatement, { projectId, id, status, error });
};
