/**
 * Selects which value of the control plane's secret is used to make tokens while the secret is being rotated. Tokens of
 * hosts and sessions are derived from the secret and not stored, and a host gets its session's token only once. So a
 * new value is used only when every replica has it (`db/projects/secret-marks.ts`). A session keeps the value that it
 * was opened with; the session's row has the mark of that value.
 */
import type { Log } from '#runtime/log.ts';
import { type Loop, startLoop } from '#runtime/loop.ts';
import type { Secret } from '#runtime/secret.ts';
import type { Database } from '../../db/core/database.ts';
import { noteSecrets } from '../../db/projects/secret-marks.ts';

/** Value of the secret, and the mark that identifies the value. */
export type MarkedSecret = { secret: Secret; mark: string };

/** Fields of a session that determine which value of the secret its token is made with. */
export type TokenOrigin = {
  /** Mark of the secret's value; null if the session was opened by a release that stored no mark. */
  secretMark: string | null;
  createdAt: Date;
};

export type SecretsInUse = {
  /** Returns the value with which new tokens are made. */
  now(): MarkedSecret;
  /**
   * Returns the value with which a session's token was made; undefined if this configuration does not have that value.
   */
  of(session: TokenOrigin): Secret | undefined;
};

/**
 * Time for which every replica must have had a new value before it is used, in milliseconds. Replicas of the previous
 * release read the marks only when they start.
 */
const rollMs = 10 * 60_000;
/** Interval at which each replica reports the values that it has, in milliseconds. */
const everyMs = 20_000;

const markOf = (secret: Secret): string => secret.derive('mark of the secret').slice(0, 16);

const reportMarks = (db: Database, [present, ...others]: [MarkedSecret, ...MarkedSecret[]]) =>
  noteSecrets(db, [present.mark, ...others.map(({ mark }) => mark)], rollMs);

/**
 * Reads the time from which each value is in use. Starts the loop that reports the values of this replica and reads
 * these times again.
 */
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
  /** Returns the newest value that was in use at the given time. Values with a recorded start take precedence. */
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
