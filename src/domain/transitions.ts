/**
 * Transition tables. Each entity with states has a table in `domain/`, and all code that changes a state checks the
 * table. A state without successors is final.
 */
export type TransitionTable<State extends string> = Readonly<Record<State, readonly State[]>>;

/** Returns true if the table allows the transition. */
export const can = <State extends string>(
  table: TransitionTable<State>,
  from: State,
  to: State,
): boolean => table[from].includes(to);

/**
 * Returns every state from which the table allows a transition to `to`. A conditional update uses them as its `from`
 * list.
 */
export const statesBefore = <State extends string>(
  table: TransitionTable<State>,
  to: State,
): State[] => (Object.keys(table) as State[]).filter((from) => table[from].includes(to));

/** Returns true if the state is final. */
export const isFinal = <State extends string>(
  table: TransitionTable<State>,
  state: State,
): boolean => table[state].length === 0;
