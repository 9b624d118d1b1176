/**
 * State of serving: whether a session is served, and which requests are in flight. The API server checks this state for
 * each request; `control/lifecycle.ts` begins and ends sessions here. Ending a session revokes its token at once and
 * waits for the requests in flight.
 */
import type { Session } from './session.ts';

export type ServingState =
  | { kind: 'waiting' }
  | { kind: 'serving'; session: Session }
  /** The session may have been reassigned, because the control plane was silent for too long. */
  | { kind: 'cut_off' }
  | { kind: 'closed' };

export type Serving = {
  state(): ServingState;
  begin(session: Session): void;
  /** Ends serving. Resolves when the requests in flight are answered. */
  end(): Promise<void>;
  /** Counts a request as in flight until `leave` is called; `ending` aborts when the session ends. */
  enter(): { leave(): void; ending: AbortSignal };
  /** Sets the address at which clients reach the session's API from now on. */
  moveTo(address: string): void;
  /** Records that a client used the session over its API. */
  touch(): void;
  /** Returns the time since the last use in milliseconds; undefined if this session was never used. */
  idleMs(): number | undefined;
};

/** Maximum number of former addresses that are stored. A container moves at most once or twice in its life. */
const formerMost = 4;

/**
 * Creates the state; initially no session is served. `isCutOff` returns true if the session may have been reassigned.
 */
export const createServing = (isCutOff: () => boolean = () => false): Serving => {
  let state: ServingState = { kind: 'waiting' };
  let underWay = 0;
  let lastUsedAt: number | undefined;
  let allDone: (() => void) | undefined;
  let ending = new AbortController();
  return {
    state: () => (state.kind === 'serving' && isCutOff() ? { kind: 'cut_off' } : state),
    begin(session) {
      state = { kind: 'serving', session };
      lastUsedAt = undefined;
      ending = new AbortController();
    },
    async end() {
      state = { kind: 'closed' };
      ending.abort();
      if (underWay === 0) return;
      const done = Promise.withResolvers<void>();
      allDone = done.resolve;
      await done.promise;
    },
    enter() {
      underWay += 1;
      return {
        ending: ending.signal,
        leave() {
          underWay -= 1;
          if (underWay === 0) allDone?.();
        },
      };
    },
    moveTo(address) {
      if (state.kind !== 'serving' || state.session.address === address) return;
      const { session } = state;
      const former = session.address === null ? [] : [session.address];
      // Replicas with different gateway addresses may answer in turn, so an address may come back repeatedly.
      const all = new Set([...former, ...session.formerAddresses]);
      all.delete(address);
      session.formerAddresses = [...all].slice(0, formerMost);
      session.address = address;
    },
    touch() {
      lastUsedAt = performance.now();
    },
    idleMs: () => (lastUsedAt === undefined ? undefined : performance.now() - lastUsedAt),
  };
};
