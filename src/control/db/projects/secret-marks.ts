/**
 * Time from which each secret is used for new tokens, for the rotation of secrets. The database stores only marks of
 * secrets, not the secrets. Each replica reports the values of its configuration, the current one first, at its start
 * and regularly while it runs. If a replica does not have a value yet, or no longer has it, its report removes that
 * value. So a value is used only if no replica lacked it during the whole delay. With values `a` and `b`, of which `b`
 * is the newer:
 *
 * | Stored | Reported | Stored then | Situation |
 * | - | - | - | - |
 * | nothing | `a` | `a` always | the first start |
 * | `a` | `b a` | `a`, `b` in ten minutes | a rotation begins |
 * | `a`, `b` soon | `b a` | the same | further replicas of the rotation start |
 * | `a`, `b` soon | `a` | `a` | an old replica runs or starts, or the rotation was reverted |
 * | `a` | `b a` | `a`, `b` in ten minutes | old replicas are gone; or the rotation is tried again, at any later time |
 * | `a`, `b` soon | `a b` | `a` | reverted with both values, before `b` was used |
 * | `a`, `b` in use | `b a` | the same | replicas start again |
 * | `a`, `b` in use | `b` | `b` | the rotation is complete |
 * | `a`, `b` in use; or `b` | `a b` | `b`, `a` in ten minutes | return to the earlier value, which now counts as the newer one |
 * | `b`, `a` soon | `b a` | `b` | a replica from before that return runs, or the return was reverted as well |
 * | `b` | `a` | `a` always | one value replaced by another at once: tokens made with `b` are lost |
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
 * Reports the values of a configuration, the current value first. Writes nothing if all of them are already stored. If
 * the current value is new, or has become the newest again, it is used after `delayMs`. If there are no other values,
 * it counts as used from the beginning. Returns, by mark, the time from which each value is used, in milliseconds since
 * 1970; 0 means from the beginning. Marks that are not stored are left out.
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
