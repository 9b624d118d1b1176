/**
 * Builds the service's own reports about traces and observations, as states that merge with those of other reporters.
 */
import type { ObservationField, TraceField } from '#observability/object.ts';
import { cleanText, textLimits } from '#observability/read-value.ts';
import { type Rank, rankOf, type Standing, type State, type Value } from '#observability/state.ts';

/** Precedence of a report over other reports about the same object, see `rankOf`. */
export type Precedence = {
  standing: Standing;
  /** Time that the report is about, in milliseconds since 1970. */
  ms: number;
};

/** Lowest precedence: the values of every other report override the values of a report with this precedence. */
export const lastHint: Precedence = { standing: 'hint', ms: 0 };

const rankOfPrecedence = ({ standing, ms }: Precedence): Rank => rankOf(standing, ms * 1_000, 0);

type Given<Field extends string> = { [Name in Field]?: Value };

/** Gives all values the rank of the precedence; null and undefined values are left out. */
export const ranked = (
  given: Given<TraceField> | Given<ObservationField>,
  precedence: Precedence,
): State['values'] => {
  const rank = rankOfPrecedence(precedence);
  const present = Object.entries(given).filter(
    ([, value]) => value !== null && value !== undefined,
  );
  return Object.fromEntries(present.map(([field, value]) => [field, [rank, value]]));
};

type Parts = {
  /** Start time in milliseconds since 1970; null if another report gives it. */
  beganMs: number | null;
  values: State['values'];
  metadata: Record<string, unknown>;
  /** Tags of a trace; none by default. */
  tags?: readonly string[];
};

/** Returns the state that a report contributes. */
export const stateOf = (
  { beganMs, values, metadata, tags = [] }: Parts,
  precedence: Precedence,
): State => ({
  at: beganMs,
  guessedAt: precedence.ms,
  values,
  tags,
  metadata: [[rankOfPrecedence(precedence), metadata]],
});

/** Returns a text cut to the maximum length of names. */
export const nameOf = (text: string): string => cleanText(text.slice(0, textLimits.name));
