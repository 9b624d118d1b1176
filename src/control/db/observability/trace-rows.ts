/** Converts a trace to its row, and computes what it adds to the sums. */
import type { Counted } from '#observability/daily.ts';
import { usualEnvironment } from '#observability/environment.ts';
import { traceFields } from '#observability/object.ts';
import type { State } from '#observability/state.ts';
import { readTally, type Tally, writeTally } from '#observability/tally.ts';
import { arrayText, type Column } from '../core/row-columns.ts';
import {
  column,
  common,
  type StateRow,
  stateOf,
  storedColumns,
  valueColumn,
  type Write,
} from './stored-states.ts';
import { keyOf } from './trace-keys.ts';

/** Trace to write. */
export type TraceWrite = Write & {
  isOrphan: boolean;
  /** Tally of the trace's observations. */
  tally: Tally;
};

const sessionKey = ({ projectId, stored }: Write): string | null => {
  const { sessionId } = stored.values;
  return typeof sessionId === 'string' && sessionId !== '' ? keyOf(projectId, sessionId) : null;
};

export const traceColumns: Column<TraceWrite>[] = [
  ...common<TraceWrite>(),
  valueColumn('user_id', 'text', 'userId'),
  valueColumn('session_id', 'text', 'sessionId'),
  column('session_key', 'uuid', sessionKey),
  valueColumn('release', 'text', 'release'),
  valueColumn('external_id', 'text', 'externalId'),
  valueColumn('is_public', 'boolean', 'public'),
  column('tags', 'text[]', ({ stored }) => arrayText(stored.tags)),
  column('is_stray', 'boolean', ({ isOrphan }) => isOrphan),
  column('tally', 'text', ({ tally }) => writeTally(tally)),
];

/** Columns for the state of a trace, with the names that the program uses. */
export const traceValues = `${storedColumns}, name, user_id as "userId", session_id as "sessionId", environment, release, version,
  external_id as "externalId", is_public as "public", tags, input, output`;

/** Returns the state in a row that was read with `traceValues`. */
export const traceState = (row: StateRow): State => stateOf(row, traceFields);

/** Columns that determine what a trace adds to the daily usage, with the names that the program uses. */
export const countedColumns = `began_at as "beganAt", name, environment, tally`;

export type CountedRow = {
  beganAt: Date;
  name: string | null;
  environment: string | null;
  tally: string | null;
};

/** Converts the `countedColumns` of a row to the values from which daily usage is computed. */
export const countedRow = ({ beganAt, name, environment, tally }: CountedRow): Counted => ({
  beganAt: beganAt.getTime(),
  name,
  environment: environment ?? usualEnvironment,
  tally: readTally(tally),
});

const textOr = (value: unknown, usual: string | null) =>
  typeof value === 'string' ? value : usual;

/** Returns the values from which daily usage is computed, for a trace to write. */
export const countedWrite = ({ stored, tally }: TraceWrite): Counted => ({
  beganAt: stored.beganAt,
  name: textOr(stored.values.name, null),
  environment: textOr(stored.values.environment, usualEnvironment) ?? usualEnvironment,
  tally,
});
