/** A score as its sender gives it, before it is held to its config. */

export const scoreTypes = ['NUMERIC', 'CATEGORICAL', 'BOOLEAN', 'TEXT', 'CORRECTION'] as const;
export type ScoreType = (typeof scoreTypes)[number];

export const scoreSources = ['API', 'ANNOTATION', 'EVAL'] as const;
export type ScoreSource = (typeof scoreSources)[number];

export type GivenScore = {
  id: string | null;
  name: string;
  /** Exactly one of the three is not null. */
  traceId: string | null;
  sessionId: string | null;
  datasetRunId: string | null;
  /** Of its trace. */
  observationId: string | null;
  value: number | string | boolean | null;
  /** Null: what the value or the config makes it. */
  dataType: ScoreType | null;
  configId: string | null;
  queueId: string | null;
  source: ScoreSource;
  comment: string | null;
  /** JSON text of an object. */
  metadataJson: string;
  environment: string;
  /** Milliseconds since 1970; null: when it was sent. */
  timestamp: number | null;
};

/** What scores of a name are held to. */
export type ScoreConfig = {
  id: string;
  name: string;
  dataType: Exclude<ScoreType, 'CORRECTION'>;
  isArchived: boolean;
  minValue: number | null;
  maxValue: number | null;
  categories: readonly { label: string; value: number }[] | null;
};

/** A score as it is kept. */
export type Score = Omit<GivenScore, 'id' | 'value' | 'dataType'> & {
  dataType: ScoreType;
  value: number | null;
  stringValue: string | null;
};
