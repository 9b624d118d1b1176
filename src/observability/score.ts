/** A score as its sender gives it, and as it is stored once validated against its config. */

export const scoreTypes = ['NUMERIC', 'CATEGORICAL', 'BOOLEAN', 'TEXT', 'CORRECTION'] as const;
export type ScoreType = (typeof scoreTypes)[number];

export const scoreSources = ['API', 'ANNOTATION', 'EVAL'] as const;
export type ScoreSource = (typeof scoreSources)[number];

export type GivenScore = {
  id: string | null;
  name: string;
  /** Exactly one of these three is not null. */
  traceId: string | null;
  sessionId: string | null;
  datasetRunId: string | null;
  /** Observation in the trace `traceId`. */
  observationId: string | null;
  value: number | string | boolean | null;
  /** Null if the type follows from the config or the value. */
  dataType: ScoreType | null;
  configId: string | null;
  queueId: string | null;
  source: ScoreSource;
  comment: string | null;
  /** JSON text of an object. */
  metadataJson: string;
  environment: string;
  /** Milliseconds since 1970; null means the time at which it was sent. */
  timestamp: number | null;
};

/** Constraints on the scores that refer to this config. */
export type ScoreConfig = {
  id: string;
  name: string;
  dataType: Exclude<ScoreType, 'CORRECTION'>;
  isArchived: boolean;
  minValue: number | null;
  maxValue: number | null;
  categories: readonly { label: string; value: number }[] | null;
};

/** A score as it is stored. */
export type Score = Omit<GivenScore, 'id' | 'value' | 'dataType'> & {
  dataType: ScoreType;
  value: number | null;
  stringValue: string | null;
};
