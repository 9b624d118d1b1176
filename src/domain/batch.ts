/**
 * A batch of rows for a world: opened, sent in chunks, sealed, and then imported by a job. The row of a batch is the
 * job itself, so that the state of the one is never another than that of the other.
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
 * What each state may become. `failed` is also what becomes of a batch that is called off, which `applied` may be
 * while it waits to be published; a failed one may be sealed again.
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

/** How rows go onto those of the world, see `src/data/import/plan.ts`. */
export const importModes = ['append', 'merge', 'replace'] as const;
export type ImportMode = (typeof importModes)[number];

/** What becomes of rows by the world's `[redact]` before they are stored. */
export const redactModes = ['off', 'apply', 'refuse'] as const;
export type RedactMode = (typeof redactModes)[number];

/** Whether a version is made as soon as the rows are applied, or by a publish of all that wait. */
export const publishTimes = ['now', 'later'] as const;
export type PublishTime = (typeof publishTimes)[number];

/** What a batch is bounded by. Chunks count compressed; `inlineBytes` is the body of an import. */
export const batchLimits = {
  chunkBytes: 8 * 1024 * 1024,
  batchBytes: 4 * 1024 * 1024 * 1024,
  inlineBytes: 8 * 1024 * 1024,
  chunks: 10_000,
  chunkRows: 1_000_000,
} as const;

/** A row, or a chunk, that was not taken. What is not known of it is null. */
export type Refusal = {
  chunk: number | null;
  index: number | null;
  entity: string | null;
  primaryKey: Record<string, unknown> | null;
  field: string | null;
  pointer: string | null;
  detail: string;
};

/** Why a batch has failed. */
export type BatchError = { code: string; message: string };
