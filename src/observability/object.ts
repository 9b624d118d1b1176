/** Traces and observations: what can be said of each, and the words for it. */
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
/** Of an observation that none was said of. */
export const usualLevel: Level = 'DEFAULT';

/** Fields of a trace that have a rank each. */
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

/** And of an observation. Those that end in `Json` are JSON text, as are input and output; times are milliseconds. */
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

/** What is known of one object, by whatever events. */
export type TraceFact = { id: string; state: State };
export type ObservationFact = {
  id: string;
  /** Null: no event has named it. */
  traceId: string | null;
  state: State;
};
