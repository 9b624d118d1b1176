/**
 * Which value of the control plane's secret makes tokens, while it is replaced by another. Tokens of hosts and
 * sessions are derived from it and stored nowhere, and a host is told its session's once. So a new value is used
 * only when each replica has it (`db/projects/secret-marks.ts`), and a session keeps to the one that it was opened with,
 * by its mark.
 */
import type { Log } from '#runtime/log.ts';
import { type Loop, startLoop } from '#runtime/loop.ts';
import type { Secret } from '#runtime/secret.ts';
import type { Database } from '../../db/core/database.ts';
import { noteSecrets } from '../../db/projects/secret-marks.ts';

/** One value, and the mark by which it is known. */
export type MarkedSecret = { secret: Secret; mark: string };

/** What a session has of the secret that its token is made with. */
export type TokenOrigin = {
  /** Null for one that was opened by a release that wrote none. */
  secretMark: string | null;
  createdAt: Date;
};

export type SecretsInUse = {
  /** The value that makes the tokens of what is new. */
  now(): MarkedSecret;
  /** The value that a session's token is made with; undefined when this configuration does not have it. */
  of(session: TokenOrigin): Secret | undefined;
};

/** For so long no replica must be without a new value. Those of the release before look only when they start. */
const rollMs = 10 * 60_000;
/** How often each tells the values that it has. */
const everyMs = 20_000;

const markOf = (secret: Secret): string => secret.derive('mark of the secret').slice(0, 16);

const tellMarks = (db: Database, [present, ...others]: [MarkedSecret, ...MarkedSecret[]]) =>
  noteSecrets(db, [present.mark, ...others.map(({ mark }) => mark)], rollMs);

/** Reads since when each value is in use, and goes on telling and reading it. */
export const openSecretsInUse = async (
  db: Database,
  secret: Secret,
  log: Log,
): Promise<{ secrets: SecretsInUse; loop: Loop<void> }> => {
  const marked = (one: Secret): MarkedSecret => ({ secret: one, mark: markOf(one) });
  const [first, ...rest] = secret.each();
  const all: [MarkedSecret, ...MarkedSecret[]] = [marked(first), ...rest.map(marked)];
  let since = await tellMarks(db, all);
  const tick = async (): Promise<void> => {
    since = await tellMarks(db, all);
  };
  const sinceOf = ({ mark }: MarkedSecret) => since.get(mark) ?? Number.NEGATIVE_INFINITY;
  /** The newest that was in use then; what is noted goes before what is not. */
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
