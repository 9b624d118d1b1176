/** Converts an observation to its row, and computes what it adds to the sums. */
import { isObject } from '#domain/json.ts';
import { observationFields } from '#observability/object.ts';
import {
  type Attribute,
  type Priceable,
  type Pricing,
  writePricing,
} from '#observability/pricing.ts';
import { beganAt, fieldOf, metadataOf, type State } from '#observability/state.ts';
import { toStored } from '#observability/stored.ts';
import { type Addition, dayOf, sumsOf } from '#observability/tally.ts';
import { type Counts, totalsOf } from '#observability/usage.ts';
import type { Column } from '../core/row-columns.ts';
import {
  column,
  common,
  type StateRow,
  stateOf,
  storedColumns,
  timeColumn,
  valueColumn,
  type Write,
} from './stored-states.ts';

type Totals = { input: number; output: number; total: number };

/** Observation to write. */
export type ObservationWrite = Write & {
  traceKey: string;
  traceId: string;
  /** Usage and cost, either reported or computed by the price of the model; null if unknown. */
  usage: Totals | null;
  cost: Totals | null;
  /** Price of the model that the observation names, at the time of the write; null if there is none. */
  pricing: Pricing | null;
};

/** Identity of an observation: its key, the key of its trace, and the week of the trace. */
export type ObservationPlace = {
  projectId: string;
  id: string;
  key: string;
  traceId: string;
  traceKey: string;
  week: number;
};

const countsIn = (text: unknown): Counts | null =>
  typeof text === 'string' ? (JSON.parse(text) as Counts) : null;

const totalsIn = (text: unknown): Totals | null => {
  const counts = countsIn(text);
  return counts === null ? null : totalsOf(counts);
};

const textIn = (state: State, { source, key }: Attribute): string | null => {
  const parameters = fieldOf(state, 'modelParametersJson');
  const parsed = () => (typeof parameters === 'string' ? JSON.parse(parameters) : null);
  const from: unknown = source === 'metadata' ? metadataOf(state) : parsed();
  const found = isObject(from) && Object.hasOwn(from, key) ? from[key] : null;
  return typeof found === 'string' ? found : null;
};

/** Returns the attributes of an observation that determine its price. */
export const priceableOf = (state: State): Priceable => {
  const [model, usage] = [fieldOf(state, 'model'), fieldOf(state, 'usageJson')];
  return {
    model: typeof model === 'string' ? model : null,
    usageJson: typeof usage === 'string' ? usage : null,
    hasCost: fieldOf(state, 'costJson') !== null,
    beganAt: beganAt(state),
    textOf: (attribute) => textIn(state, attribute),
  };
};

/** Builds the row of an observation. A reported cost is used even if a cost can be computed. */
export const observationWrite = (
  place: ObservationPlace,
  state: State,
  pricing: Pricing | null,
): ObservationWrite => {
  const { projectId, id, key, traceId, traceKey, week } = place;
  const stored = toStored(state, observationFields);
  const { usageJson, costJson } = stored.values;
  const computed = pricing?.cost ?? null;
  const cost = totalsIn(costJson) ?? (computed === null ? null : totalsOf(computed));
  const usage = totalsIn(usageJson);
  return { projectId, id, key, traceId, traceKey, week, stored, usage, cost, pricing };
};

/** Returns what an observation adds to the tally of its trace. */
export const countOf = ({ stored, usage, cost }: ObservationWrite): Addition => {
  const { model } = stored.values;
  const key = [dayOf(stored.beganAt), typeof model === 'string' ? model : null] as const;
  return { key, sums: sumsOf(usage, cost) };
};

const sums = (of: 'usage' | 'cost', type: string): Column<ObservationWrite>[] =>
  (['input', 'output', 'total'] as const).map((side) =>
    column(`${side}_${of}`, type, (row) => row[of]?.[side]),
  );

export const observationColumns: Column<ObservationWrite>[] = [
  ...common<ObservationWrite>(),
  column('trace_key', 'uuid', ({ traceKey }) => traceKey),
  column('trace_id', 'text', ({ traceId }) => traceId),
  valueColumn('type', 'text', 'type'),
  valueColumn('parent_id', 'text', 'parentId'),
  timeColumn('end_time', 'endTime'),
  timeColumn('completion_start_time', 'completionStartTime'),
  valueColumn('level', 'text', 'level'),
  valueColumn('status_message', 'text', 'statusMessage'),
  valueColumn('model', 'text', 'model'),
  valueColumn('model_parameters', 'text', 'modelParametersJson'),
  valueColumn('usage', 'text', 'usageJson'),
  valueColumn('cost', 'text', 'costJson'),
  ...sums('usage', 'bigint'),
  ...sums('cost', 'double precision'),
  valueColumn('prompt_name', 'text', 'promptName'),
  valueColumn('prompt_version', 'integer', 'promptVersion'),
  column('pricing', 'text', ({ pricing }) => writePricing(pricing)),
];

/** Columns for the state of an observation, with the names that the program uses. */
export const observationValues = `${storedColumns}, type, name, parent_id as "parentId", end_time as "endTime",
  completion_start_time as "completionStartTime", level, status_message as "statusMessage", version, environment,
  model, model_parameters as "modelParametersJson", usage as "usageJson", cost as "costJson",
  prompt_name as "promptName", prompt_version as "promptVersion", input, output`;

/** Returns the state in a row that was read with `observationValues`. */
export const observationState = (row: StateRow): State => stateOf(row, observationFields);
