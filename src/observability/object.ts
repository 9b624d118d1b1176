/** Vocabulary of traces and observations: their types, levels and fields. */
import type { State } from './state.ts';

export type ObjectKind = 'trace' | 'observation';

export const observationTypes = [
  'SPAN',
  'GENERATION',
  'EVENT',
  'AGENT',
  'TOOL',
  'CHAIN',
  'RETRIEVER',
  'EVALUATOR',
  'EMBEDDING',
  'GUARDRAIL',
] as const;
export type ObservationType = (typeof observationTypes)[number];

export const levels = ['DEBUG', 'DEFAULT', 'WARNING', 'ERROR'] as const;
export type Level = (typeof levels)[number];
/** Level of an observation whose events gave none. */
export const usualLevel: Level = 'DEFAULT';

/** Names of the fields of a trace. Each field has its own rank. */
export const traceFields = [
  'name',
  'userId',
  'sessionId',
  'environment',
  'release',
  'version',
  'externalId',
  'public',
  'input',
  'output',
] as const;
export type TraceField = (typeof traceFields)[number];

/**
 * Names of the fields of an observation. Fields that end in `Json` hold JSON text, as input and output do; times are in
 * milliseconds.
 */
export const observationFields = [
  'type',
  'name',
  'parentId',
  'endTime',
  'completionStartTime',
  'level',
  'statusMessage',
  'version',
  'environment',
  'model',
  'modelParametersJson',
  'usageJson',
  'costJson',
  'promptName',
  'promptVersion',
  'input',
  'output',
] as const;
export type ObservationField = (typeof observationFields)[number];

/** Merged state of one trace, from any number of events. */
export type TraceFact = { id: string; state: State };
export type ObservationFact = {
  id: string;
  /** Id of the trace that an event named; null if no event has named one. */
  traceId: string | null;
  state: State;
};
