/**
 * History of sessions, hosts and calls, in order, written by the database itself. Triggers of the test record each
 * change of state, whichever program made it, and even if that program has died since.
 */
import { type CallState, callTransitions } from '#domain/call.ts';
import { type HostState, hostTransitions } from '#domain/host.ts';
import { type SessionState, sessionTransitions } from '#domain/session.ts';
import { can, type TransitionTable } from '#domain/transitions.ts';
import type { Network } from '../../support/programs/network.ts';

/** One change of one row; `before` is null when the row was inserted. */
export type Change = {
  number: number;
  at: Date;
  noun: 'sessions' | 'hosts' | 'calls';
  id: string;
  before: string | null;
  after: string;
  /** Session that a host is now assigned to, or that a call belongs to. */
  sessionId: string | null;
  generation: number | null;
  reason: string | null;
};

const tables: Record<Change['noun'], TransitionTable<string>> = {
  sessions: sessionTransitions satisfies TransitionTable<SessionState>,
  hosts: hostTransitions satisfies TransitionTable<HostState>,
  calls: callTransitions satisfies TransitionTable<CallState>,
};

const trigger = (noun: Change['noun'], sessionId: string, reason: string): string => `
  create function note_${noun}() returns trigger language plpgsql as $$ begin
    if tg_op = 'INSERT' or old.state <> new.state then
      insert into history (noun, id, before, after, session_id, generation, reason)
      values ('${noun}', new.id, case when tg_op = 'UPDATE' then old.state end, new.state,
        ${sessionId}, new.generation, ${reason});
    end if;
    return null;
  end $$;
  create trigger note_${noun} after insert or update on ${noun}
    for each row execute function note_${noun}();`;

/** Starts to record the history. */
export const beginHistory = async ({ sql }: Pick<Network, 'sql'>): Promise<void> => {
  await sql(`create table history (
    number bigint generated always as identity primary key, at timestamptz default clock_timestamp(),
    noun text, id text, before text, after text, session_id text, generation integer, reason text)`);
  await sql(trigger('sessions', 'new.id', 'new.end_reason'));
  await sql(trigger('hosts', 'new.session_id', 'new.end_reason'));
  await sql(trigger('calls', 'new.session_id', 'new.error::text'));
};

export const readHistory = ({ sql }: Pick<Network, 'sql'>, after: number): Promise<Change[]> =>
  sql<Change>(
    `select number::int, at, noun, id, before, after, session_id as "sessionId", generation, reason
       from history where number > $1 order by number`,
    [after],
  );

const wrongSteps = (changes: readonly Change[]): string[] =>
  changes
    .filter(({ noun, before, after }) => before !== null && !can(tables[noun], before, after))
    .map(({ noun, id, before, after }) => `${noun}: ${id} went from ${before} to ${after}`);

/** Returns faults where two hosts had one session at a time, or a host changed from one session to another. */
const doubleClaims = (changes: readonly Change[]): string[] => {
  const holders = new Map<string, string>();
  const wrongs: string[] = [];
  for (const { id, sessionId, after } of changes.filter(({ noun }) => noun === 'hosts')) {
    for (const [session, host] of holders) if (host === id) holders.delete(session);
    if (after !== 'assigned' || sessionId === null) continue;
    const other = holders.get(sessionId);
    if (other !== undefined) wrongs.push(`${sessionId} was on ${other} and on ${id} at once`);
    holders.set(sessionId, id);
  }
  return wrongs;
};

/**
 * Returns hosts that were assigned two sessions under one generation, so that the check of generations could not tell
 * the two assignments apart.
 */
const sharedGenerations = (changes: readonly Change[]): string[] => {
  const seen = new Set<string>();
  const wrongs: string[] = [];
  for (const { id, generation, after, noun } of changes) {
    if (noun !== 'hosts' || after !== 'assigned') continue;
    const claim = `${id} of generation ${generation}`;
    if (seen.has(claim)) wrongs.push(`${claim} was assigned twice`);
    seen.add(claim);
  }
  return wrongs;
};

/** Returns all forbidden changes of the history. */
export const faultsOfHistory = (changes: readonly Change[]): string[] => [
  ...wrongSteps(changes),
  ...doubleClaims(changes),
  ...sharedGenerations(changes),
];
