/** A score as its sender gives it, and a score as it is stored after it was validated against its score config. */

export const scoreTypes = ['NUMERIC', 'CATEGORICAL', 'BOOLEAN', 'TEXT', 'CORRECTION'] as const;
export type ScoreType = (typeof scoreTypes)[number];

export const scoreSources = ['API', 'ANNOTATION', 'EVAL'] as const;
export type ScoreSource = (typeof scoreSources)[number];

export type GivenScore = {
  id: string | null;
  name: string;
  /** Id of the scored trace. Exactly one of `traceId`, `sessionId` and `datasetRunId` is not null. */
  traceId: string | null;
  sessionId: string | null;
  datasetRunId: string | null;
  /** Scored observation in the trace `traceId`; null if the score is not about an observation. */
  observationId: string | null;
  value: number | string | boolean | null;
  /** Type of the score; null if it follows from the config or the value. */
  dataType: ScoreType | null;
  configId: string | null;
  queueId: string | null;
  source: ScoreSource;
  comment: string | null;
  /** Metadata as the JSON text of an object. */
  metadataJson: string;
  environment: string;
  /** Time in milliseconds since 1970; null means the time at which the score was sent. */
  timestamp: number | null;
};

/** Constraints on the scores that refer to this score config. */
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
