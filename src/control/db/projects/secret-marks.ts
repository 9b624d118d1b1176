/**
 * Since when a secret makes the tokens of what is new. Secrets are known here by marks alone. Every replica tells
 * the values of its configuration, the present one first, when it starts and again and again while it runs: a value
 * that some replica does not have yet, or any more, is forgotten by that, and so is used only when for the whole
 * delay no replica was without it. With values `a` and `b`, of which `b` is the newer:
 *
 * | Known | Told | Known then | What it is |
 * | - | - | - | - |
 * | nothing | `a` | `a` always | the first start |
 * | `a` | `b a` | `a`, `b` in ten minutes | a replacement begins |
 * | `a`, `b` soon | `b a` | the same | its next replicas |
 * | `a`, `b` soon | `a` | `a` | an old replica runs or starts, or the replacement was taken back |
 * | `a` | `b a` | `a`, `b` in ten minutes | old replicas are gone; or it is tried again, however much later |
 * | `a`, `b` soon | `a b` | `a` | taken back with both values, before it was used |
 * | `a`, `b` in use | `b a` | the same | replicas start again |
 * | `a`, `b` in use | `b` | `b` | the replacement is over |
 * | `a`, `b` in use; or `b` | `a b` | `b`, `a` in ten minutes | back to the earlier value, which is the newer now |
 * | `b`, `a` soon | `b a` | `b` | an old replica of that runs, or it was taken back as well |
 * | `b` | `a` | `a` always | one value for another at once: what was made with `b` is lost |
 */
import { type Database, statement } from '../core/database.ts';

const lockStatement = statement(
  'lock_secret_marks',
  `select pg_advisory_xact_lock(hashtextextended('secret marks', 0))`,
);

// Not `now()`: the transaction may have waited for the lock.
const forgetStatement = statement(
  'forget_secret_marks',
  `delete from secret_marks
    where mark <> all($1::text[]) or (mark <> $2 and since > clock_timestamp())`,
);

const noteStatement = statement(
  'note_secret_mark',
  `insert into secret_marks (mark, since)
   select $1, case when $2::float8 is null then '-infinity'
                   else clock_timestamp() + $2 * interval '1 millisecond' end
    where not exists (select from secret_marks m where m.mark = $1
            and not exists (select from secret_marks o where o.mark <> $1 and o.since >= m.since))
   on conflict (mark) do update set since = excluded.since`,
);

const readStatement = statement(
  'read_secret_marks',
  `select mark, extract(epoch from greatest(since, 'epoch'))::float8 * 1000 as "sinceMs" from secret_marks`,
);

type Row = { mark: string; sinceMs: number };

/**
 * Notes the values of a configuration, the present one first. One that is new, or is the newest again, makes tokens
 * from `delayMs` on where there are others, and has always done so otherwise. Answers, in milliseconds since 1970
 * and by mark, since when each does, which is 0 for always; of one that is not there it is not known. Writes nothing where all is noted.
 */
export const noteSecrets = (
  db: Database,
  marks: readonly [string, ...string[]],
  delayMs: number,
): Promise<Map<string, number>> =>
  db.transaction(async (tx) => {
    const [present, ...others] = marks;
    await tx.query(lockStatement, []);
    await tx.query(forgetStatement, [marks, present]);
    await tx.query(noteStatement, [present, others.length === 0 ? null : delayMs]);
    const rows = await tx.query<Row>(readStatement, []);
    return new Map(rows.map(({ mark, sinceMs }) => [mark, sinceMs]));
  });
