/** Since when each secret makes the tokens of new sessions. Secrets are known here by marks alone. */
import { type Database, statement } from './pool.ts';

const lockStatement = statement(
  'lock_secret_marks',
  `select pg_advisory_xact_lock(hashtextextended('secret marks', 0))`,
);

const noteStatement = statement(
  'note_secret_mark',
  `insert into secret_marks (mark, since)
   values ($1, case when $2::float8 is null then '-infinity' else now() + $2 * interval '1 millisecond' end)
   on conflict (mark) do nothing`,
);

const readStatement = statement(
  'read_secret_marks',
  `select mark, since = '-infinity' as always, extract(epoch from since)::float8 * 1000 as "sinceMs"
     from secret_marks where mark = any($1::text[])`,
);

type Row = { mark: string; always: boolean; sinceMs: number };

/**
 * Notes the secrets of a configuration, the present one first: the others were there before; the present one
 * makes tokens from `delayMs` on when there are others, and has always done so otherwise. Answers, in
 * milliseconds since 1970 and by mark, since when each does; one that was noted before stays as it was.
 */
export const noteSecrets = (
  db: Database,
  [present, ...others]: readonly [string, ...string[]],
  delayMs: number,
): Promise<Map<string, number>> =>
  db.transaction(async (tx) => {
    await tx.query(lockStatement, []);
    for (const mark of others) await tx.query(noteStatement, [mark, null]);
    await tx.query(noteStatement, [present, others.length === 0 ? null : delayMs]);
    const rows = await tx.query<Row>(readStatement, [[present, ...others]]);
    return new Map(
      rows.map(({ mark, always, sinceMs }) => [mark, always ? Number.NEGATIVE_INFINITY : sinceMs]),
    );
  });
