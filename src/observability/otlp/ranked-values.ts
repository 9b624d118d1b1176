/** Builds ranked values from a span, for its observation and for its trace. */
import { normalizeEnvironment } from '../environment.ts';
import { cleanText, textLimits } from '../read-value.ts';
import type { Rank, State, Value } from '../state.ts';
import { parseLoose, textOf } from './attributes.ts';
import type { Span } from './span.ts';

/** Values by field; a value of undefined or null was not given. */
export type Given = Readonly<Record<string, Value | undefined>>;

/** Gives all values the rank `rank`. */
export const rankAll = (given: Given, rank: Rank): State['values'] => {
  const values: Record<string, readonly [Rank, Value]> = {};
  for (const [field, value] of Object.entries(given)) {
    if (value !== undefined && value !== null) values[field] = [rank, value];
  }
  return values;
};

/** Cuts a text to the maximum length of names, and replaces characters that cannot be stored. */
export const cutText = (text: string | undefined): string | undefined =>
  text === undefined ? undefined : cleanText(text.slice(0, textLimits.name));

/** Returns a value as JSON text. If the value is a text that holds a JSON object or list, the text is parsed first. */
export const jsonOf = (value: unknown): string | undefined =>
  value === undefined ? undefined : JSON.stringify(parseLoose(value));

/** Returns the metadata as one layer with its rank; no layer if the metadata is empty. */
export const metadataOf = (record: Record<string, unknown>, rank: Rank): State['metadata'] =>
  Object.keys(record).length === 0 ? [] : [[rank, record]];

const environmentNames = [
  'langfuse.environment',
  'deployment.environment.name',
  'deployment.environment',
];

/** Returns the environment that the span gives, else the one that its resource gives. */
export const environmentOf = ({ attributes, resource }: Span): string | undefined => {
  const given = textOf(attributes, environmentNames) ?? textOf(resource, environmentNames);
  return given === undefined ? undefined : normalizeEnvironment(given);
};

/** Returns the version of the agent or service that made the span. */
export const versionOf = ({ attributes, resource }: Span): string | undefined =>
  cutText(
    textOf(attributes, ['langfuse.version']) ??
      textOf(resource, ['langfuse.version', 'service.version']),
  );
