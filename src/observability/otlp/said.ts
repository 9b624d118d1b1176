/** How what a span says becomes values with ranks, for its observation and for its trace. */
import { normalizeEnvironment } from '../environment.ts';
import { cleanText, textLimits } from '../read-value.ts';
import type { Rank, State, Value } from '../state.ts';
import { parseLoose, textOf } from './attributes.ts';
import type { Span } from './span.ts';

/** Values by field; undefined and null: nothing is said. */
export type Given = Readonly<Record<string, Value | undefined>>;

/** All of them with one rank. */
export const rankAll = (given: Given, rank: Rank): State['values'] => {
  const values: Record<string, readonly [Rank, Value]> = {};
  for (const [field, value] of Object.entries(given)) {
    if (value !== undefined && value !== null) values[field] = [rank, value];
  }
  return values;
};

/** A text that is as long as names may be. */
export const cutText = (text: string | undefined): string | undefined =>
  text === undefined ? undefined : cleanText(text.slice(0, textLimits.name));

/** A value as the JSON text that is kept; a text that holds an object or a list as that. */
export const jsonOf = (value: unknown): string | undefined =>
  value === undefined ? undefined : JSON.stringify(parseLoose(value));

/** What was said as metadata; nothing where there is none. */
export const metadataOf = (record: Record<string, unknown>, rank: Rank): State['metadata'] =>
  Object.keys(record).length === 0 ? [] : [[rank, record]];

const environmentNames = [
  'langfuse.environment',
  'deployment.environment.name',
  'deployment.environment',
];

/** Where it ran: the span says, else its resource. */
export const environmentOf = ({ attributes, resource }: Span): string | undefined => {
  const given = textOf(attributes, environmentNames) ?? textOf(resource, environmentNames);
  return given === undefined ? undefined : normalizeEnvironment(given);
};

/** The version of what ran. */
export const versionOf = ({ attributes, resource }: Span): string | undefined =>
  cutText(
    textOf(attributes, ['langfuse.version']) ??
      textOf(resource, ['langfuse.version', 'service.version']),
  );
