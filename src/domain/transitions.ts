/**
 * Transition tables: each noun with a life has one, here in `domain/`, and everything that moves the
 * noun asks it. A state with no successors is final.
 */
export type TransitionTable<State extends string> = Readonly<Record<State, readonly State[]>>;

/** Whether the table allows the step. */
export const can = <State extends string>(
  table: TransitionTable<State>,
  from: State,
  to: State,
): boolean => table[from].includes(to);

/** Every state from which the table allows a step to `to`: the `from` list of a conditional update. */
export const statesBefore = <State extends string>(
  table: TransitionTable<State>,
  to: State,
): State[] => (Object.keys(table) as State[]).filter((from) => table[from].includes(to));

/** Whether the state is the end of the life. */
export const isFinal = <State extends string>(
  table: TransitionTable<State>,
  state: State,
): boolean => table[state].length === 0;
