/**
 * Selects the value of the control plane's secret that makes tokens during a rotation. Tokens of hosts and sessions
 * are derived from the secret and not stored, and a host gets its session's token only once. So a new value is used
 * only when every replica has it (`db/projects/secret-marks.ts`). A session keeps the value that it was opened with,
 * identified by its mark.
 */
import type { Log } from '#runtime/log.ts';
import { type Loop, startLoop } from '#runtime/loop.ts';
import type { Secret } from '#runtime/secret.ts';
import type { Database } from '../../db/core/database.ts';
import { noteSecrets } from '../../db/projects/secret-marks.ts';

/** One value of the secret, and the mark that identifies it. */
export type MarkedSecret = { secret: Secret; mark: string };

/** The fields of a session that select the secret of its token. */
export type TokenOrigin = {
  /** Null if a release that stored no mark opened the session. */
  secretMark: string | null;
  createdAt: Date;
};

export type SecretsInUse = {
  /** Returns the value that makes new tokens. */
  now(): MarkedSecret;
  /** Returns the value that made a session's token; undefined if this configuration lacks it. */
  of(session: TokenOrigin): Secret | undefined;
};

/**
 * Time for which every replica must have had a new value, in milliseconds. Replicas of the previous release look only
 * when they start.
 */
const rollMs = 10 * 60_000;
/** Interval at which each replica reports the values that it has, in milliseconds. */
const everyMs = 20_000;

const markOf = (secret: Secret): string => secret.derive('mark of the secret').slice(0, 16);

const reportMarks = (db: Database, [present, ...others]: [MarkedSecret, ...MarkedSecret[]]) =>
  noteSecrets(db, [present.mark, ...others.map(({ mark }) => mark)], rollMs);

/** Reads since when each value is in use, and starts the loop that reports and reads this. */
export const openSecretsInUse = async (
  db: Database,
  secret: Secret,
  log: Log,
): Promise<{ secrets: SecretsInUse; loop: Loop<void> }> => {
  const marked = (one: Secret): MarkedSecret => ({ secret: one, mark: markOf(one) });
  const [first, ...rest] = secret.each();
  const all: [MarkedSecret, ...MarkedSecret[]] = [marked(first), ...rest.map(marked)];
  let since = await reportMarks(db, all);
  const tick = async (): Promise<void> => {
    since = await reportMarks(db, all);
  };
  const sinceOf = ({ mark }: MarkedSecret) => since.get(mark) ?? Number.NEGATIVE_INFINITY;
  /** Returns the newest value in use at a time; values with a recorded start take precedence. */
  const at = (timeMs: number): MarkedSecret => {
    const used = all.filter((one) => sinceOf(one) <= timeMs);
    const [oldest = all[0]] = all.slice(-1);
    return used.reduce(
      (best, one) => (sinceOf(one) > sinceOf(best) ? one : best),
      used[0] ?? oldest,
    );
  };
  const secrets: SecretsInUse = {
    now: () => at(Date.now()),
    of: ({ secretMark, createdAt }) =>
      secretMark === null
        ? at(createdAt.getTime()).secret
        : all.find(({ mark }) => mark === secretMark)?.secret,
  };
  return { secrets, loop: startLoop({ name: 'secrets', everyMs, tick, log }) };
};
