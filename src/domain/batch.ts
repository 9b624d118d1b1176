/**
 * A batch of rows for a world: a client opens the batch, sends chunks and seals it; a job then imports the batch. The
 * batch's database row is also the job's row, so that the states of batch and job can never disagree.
 */
import type { TransitionTable } from './transitions.ts';

export const batchStates = [
  'open',
  'uploading',
  'queued',
  'validating',
  'applying',
  'applied',
  'refused',
  'published',
  'failed',
] as const;
export type BatchState = (typeof batchStates)[number];

/**
 * Allowed transitions of a batch. A batch that a client cancels becomes `failed`, which is possible even for an
 * `applied` batch while it waits to be published. A failed batch may be sealed again.
 */
export const batchTransitions: TransitionTable<BatchState> = {
  open: ['uploading', 'queued', 'failed'],
  uploading: ['queued', 'failed'],
  queued: ['validating', 'failed'],
  validating: ['applying', 'applied', 'published', 'refused', 'failed'],
  applying: ['applied', 'published', 'refused', 'failed'],
  applied: ['published', 'failed'],
  refused: [],
  published: [],
  failed: ['queued'],
};

/** Modes in which imported rows are combined with the world's rows, see `src/data/import/plan.ts`. */
export const importModes = ['append', 'merge', 'replace'] as const;
export type ImportMode = (typeof importModes)[number];

/** Treatment of imported rows by the world's `[redact]` rules before they are stored. */
export const redactModes = ['off', 'apply', 'refuse'] as const;
export type RedactMode = (typeof redactModes)[number];

/** Time of publication. `now`: as soon as the rows are applied. `later`: by a later publish of all applied batches. */
export const publishTimes = ['now', 'later'] as const;
export type PublishTime = (typeof publishTimes)[number];

/** Limits of a batch. Chunk sizes are of compressed bytes; `inlineBytes` limits the body of an inline import. */
export const batchLimits = {
  chunkBytes: 8 * 1024 * 1024,
  batchBytes: 4 * 1024 * 1024 * 1024,
  inlineBytes: 8 * 1024 * 1024,
  chunks: 10_000,
  chunkRows: 1_000_000,
} as const;

/** A rejected row or chunk. Facts that are unknown are null. */
export type Refusal = {
  chunk: number | null;
  index: number | null;
  entity: string | null;
  primaryKey: Record<string, unknown> | null;
  field: string | null;
  pointer: string | null;
  detail: string;
};

/** Reason why a batch has failed. */
export type BatchError = { code: string; message: string };
