/**
 * Whether a session is served, and by whom it is being used. The API server asks here for each
 * request; `control/lifecycle.ts` begins and ends sessions here. Ending one revokes its token at once and waits for
 * the requests under way.
 */
import type { Session } from './session.ts';

export type ServingState =
  | { kind: 'waiting' }
  | { kind: 'serving'; session: Session }
  /** A session is held that may have been given up: the control plane was not heard for too long. */
  | { kind: 'cut_off' }
  | { kind: 'closed' };

export type Serving = {
  state(): ServingState;
  begin(session: Session): void;
  /** Serves no further request. Resolves when those under way are answered. */
  end(): Promise<void>;
  /** Counts a request as under way until `leave` is called; `ending` aborts when the session is to be served no more. */
  enter(): { leave(): void; ending: AbortSignal };
  /** Notes where clients find the API of the session by now. */
  moveTo(address: string): void;
  /** Notes that the session was used over its API. */
  touch(): void;
  /** Milliseconds since it was; undefined when this session never was. */
  idleMs(): number | undefined;
};

/** Former addresses that are known again: a container moves once or twice in its life, if at all. */
const formerMost = 4;

/** Serves nothing yet. `isCutOff` says whether what is served may have been given up. */
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
      // Replicas that differ in their gateway's address may answer in turn, so one comes back again and again.
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
