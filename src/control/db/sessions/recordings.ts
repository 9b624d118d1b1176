/**
 * Recordings of sessions' browsers, and the parts of these recordings. First a part is inserted, then its bytes are
 * stored under their digest, then it is marked as stored.
 */
import type { RecordingMark } from '#domain/recording.ts';
import type { Digest } from '#domain/world.ts';
import { type Queryable, statement } from '../core/database.ts';

export type Recording = {
  /** Time of the first picture; null if there is no picture yet. */
  beganAt: Date | null;
  /** Time of the last picture, in milliseconds after `beganAt`. */
  endMs: number;
  pictures: number;
  bytes: number;
  nextPart: number;
  /** Time at which the recording was cut off because it had reached its size limit; null if it was not cut off. */
  cutAt: Date | null;
  /** Time at which the pictures were deleted; null if they still exist. */
  droppedAt: Date | null;
};

const columns = `r.began_at as "beganAt", r.end_ms::float8 as "endMs", r.pictures, r.bytes::float8 as bytes,
  r.next_part as "nextPart", r.cut_at as "cutAt", r.dropped_at as "droppedAt"`;

const findStatement = statement(
  'find_recording',
  `select ${columns} from browser_recordings r where r.session_id = $1`,
);

/** Returns the recording of a session; undefined if the session was opened without one. */
export const findRecording = async (
  db: Queryable,
  sessionId: string,
): Promise<Recording | undefined> => (await db.query<Recording>(findStatement, [sessionId]))[0];

const lockStatement = statement('lock_recording', `${findStatement.text} for update`);

/**
 * Locks the recording and returns it, so that no other transaction can add to it. Returns undefined if it does not
 * exist.
 */
export const lockRecording = async (
  tx: Queryable,
  sessionId: string,
): Promise<Recording | undefined> => (await tx.query<Recording>(lockStatement, [sessionId]))[0];

/** Part of a recording. Times are in milliseconds after the start of the recording. */
export type RecordingPart = {
  number: number;
  startMs: number;
  /** Time of the part's last picture. */
  endMs: number;
  bytes: number;
  mark: RecordingMark | null;
  digest: Digest;
};

const partColumns = `p.number, p.start_ms::float8 as "startMs", p.end_ms::float8 as "endMs", p.bytes, p.mark, p.digest`;

const addStatement = statement(
  'add_recording_part',
  `with part as (
     insert into browser_recording_parts (session_id, number, start_ms, end_ms, bytes, mark, digest)
     values (:sessionId, :number, :startMs, :endMs, :bytes, :mark, :digest)
   )
   update browser_recordings
      set began_at = :beganAt, end_ms = :endMs, pictures = pictures + :pictures, bytes = bytes + :bytes,
          next_part = :number::integer + 1
    where session_id = :sessionId`,
);

/** Inserts a part whose bytes are not stored yet. */
export const addPart = async (
  tx: Queryable,
  part: RecordingPart & { sessionId: string; beganAt: Date; pictures: number },
): Promise<void> => {
  await tx.query(addStatement, part);
};

const hasStatement = statement(
  'has_recording_part',
  `select true from browser_recording_parts
    where session_id = :sessionId and number = :number and digest = :digest`,
);

/** Returns true if the part with this number has these bytes. */
export const hasPart = async (
  tx: Queryable,
  part: { sessionId: string; number: number; digest: Digest },
): Promise<boolean> => (await tx.query(hasStatement, part)).length > 0;

const storedStatement = statement(
  'stored_recording_part',
  `update browser_recording_parts set is_stored = true where session_id = :sessionId and number = :number`,
);

/** Marks a part as stored. Only stored parts are listed. */
export const markStored = async (
  db: Queryable,
  part: { sessionId: string; number: number },
): Promise<void> => {
  await db.query(storedStatement, part);
};

const cutStatement = statement(
  'cut_recording',
  'update browser_recordings set cut_at = coalesce(cut_at, now()) where session_id = $1',
);

/** Records that the recording has reached its size limit. */
export const cutRecording = async (tx: Queryable, sessionId: string): Promise<void> => {
  await tx.query(cutStatement, [sessionId]);
};

const partsStatement = statement(
  'list_recording_parts',
  `select ${partColumns} from browser_recording_parts p where p.session_id = $1 and p.is_stored order by p.number`,
);

/** Lists the stored parts, in order. The limit on the size of recordings also limits the number of parts. */
export const listParts = (db: Queryable, sessionId: string): Promise<RecordingPart[]> =>
  db.query<RecordingPart>(partsStatement, [sessionId]);

const spentStatement = statement(
  'find_spent_recording',
  `select r.session_id as "sessionId" from browser_recordings r join sessions s on s.id = r.session_id
    where r.dropped_at is null and s.closed_at < now() - make_interval(days => $1::int)
    limit 1`,
);

/** Returns a recording whose session ended more than `days` days ago; undefined if there is none. */
export const findSpentRecording = async (
  db: Queryable,
  days: number,
): Promise<string | undefined> =>
  (await db.query<{ sessionId: string }>(spentStatement, [days]))[0]?.sessionId;

const digestsStatement = statement(
  'recording_digests',
  'select digest from browser_recording_parts where session_id = $1',
);

/** Returns the digests of all parts, including parts whose bytes are not stored. */
export const listPartDigests = async (db: Queryable, sessionId: string): Promise<Digest[]> =>
  (await db.query<{ digest: Digest }>(digestsStatement, [sessionId])).map(({ digest }) => digest);

const dropStatement = statement(
  'drop_recording',
  `with parts as (delete from browser_recording_parts where session_id = $1)
   update browser_recordings set dropped_at = now() where session_id = $1`,
);

/** Deletes the parts of a recording. The caller must have removed their bytes. */
export const dropRecording = async (db: Queryable, sessionId: string): Promise<void> => {
  await db.query(dropStatement, [sessionId]);
};
