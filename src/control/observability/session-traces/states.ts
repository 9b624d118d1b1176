/** What the service says of a trace or an observation, as a state that is merged with what others say of it. */
import type { ObservationField, TraceField } from '#observability/object.ts';
import { cleanText, textLimits } from '#observability/read-value.ts';
import { type Rank, rankOf, type Standing, type State, type Value } from '#observability/state.ts';

/** How it stands to what others say: see `rankOf`. */
export type Saying = {
  standing: Standing;
  /** When it was so, in milliseconds since 1970. */
  ms: number;
};

/** Whatever anybody else says counts for more. */
export const lastHint: Saying = { standing: 'hint', ms: 0 };

const rankOfSaying = ({ standing, ms }: Saying): Rank => rankOf(standing, ms * 1_000, 0);

type Given<Field extends string> = { [Name in Field]?: Value };

/** The values with one rank; null and what is absent says nothing. */
export const ranked = (
  given: Given<TraceField> | Given<ObservationField>,
  saying: Saying,
): State['values'] => {
  const rank = rankOfSaying(saying);
  const said = Object.entries(given).filter(([, value]) => value !== null && value !== undefined);
  return Object.fromEntries(said.map(([field, value]) => [field, [rank, value]]));
};

type Parts = {
  /** When it began; null: others know. */
  beganMs: number | null;
  values: State['values'];
  metadata: Record<string, unknown>;
  /** Tags of a trace; none unless given. */
  tags?: readonly string[];
};

/** The state of what is said. */
export const stateOf = (
  { beganMs, values, metadata, tags = [] }: Parts,
  saying: Saying,
): State => ({
  at: beganMs,
  guessedAt: saying.ms,
  values,
  tags,
  metadata: [[rankOfSaying(saying), metadata]],
});

/** A text as a name. */
export const nameOf = (text: string): string => cleanText(text.slice(0, textLimits.name));
