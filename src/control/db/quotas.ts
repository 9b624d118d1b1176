/**
 * What a project may use of an installation. Whether a project has room for another session is decided
 * in the database, by `refuse_open` of the migrations, in the transaction that writes the session.
 */

/** Both are at least 1; a row of `projects` may have its own. */
export type Quotas = {
  /** Sessions that are not yet `CLOSED` or `FAILED`, those that wait for a host among them. */
  sessions: number;
  /** Sessions opened in any 60 seconds, whatever became of them. */
  opensPerMinute: number;
};

/** Why no session was opened. */
export type QuotaRefusal = {
  quota: 'sessions' | 'opens_per_minute';
  limit: number;
  /** When there will be room, if that can be known: of `opens_per_minute` alone. */
  retryAfterMs: number | null;
};
