/**
 * Converts one OpenTelemetry span to a state of an observation and a state of its trace. Attributes of the Langfuse
 * SDKs take precedence over other conventions. All values of a span have one rank, so a span that is sent again changes
 * nothing.
 */
import { cleanText } from '../read-value.ts';
import { type Rank, rankOf, type State } from '../state.ts';
import { type Attributes, recordOf } from './attributes.ts';
import { type InputOutput, inputOutputOf } from './input-output.ts';
import { levelOf, nameOf, statusMessageOf, typeOf } from './kind.ts';
import { modelUseOf } from './model-use.ts';
import {
  cutText,
  environmentOf,
  type Given,
  metadataOf,
  rankAll,
  versionOf,
} from './ranked-values.ts';
import type { Span } from './span.ts';
import { traceStateOf } from './trace-state.ts';

export type SpanStates = { id: string; traceId: string; observation: State; trace: State };

/**
 * Scopes whose attributes this service reads completely. For any other scope, attributes that are not read are stored
 * as metadata.
 */
const ownScopes = ['langfuse-sdk', 'langfuse-tracer'];

const without = (attributes: Attributes, names: ReadonlySet<string>): Record<string, unknown> =>
  Object.fromEntries(
    [...attributes].filter(([name]) => !names.has(name) && !name.startsWith('langfuse.')),
  );

const isEmpty = (record: Record<string, unknown>): boolean => Object.keys(record).length === 0;

/**
 * Returns the metadata that the span gives, plus those attributes of the span, its resource and its scope that are not
 * read otherwise.
 */
const observationMetadata = (span: Span, names: ReadonlySet<string>): Record<string, unknown> => {
  const { attributes, resource, scope } = span;
  const others = ownScopes.includes(scope.name) ? {} : without(attributes, names);
  const experiment = recordOf(attributes, ['langfuse.experiment']);
  const resourceAttributes = Object.fromEntries(resource);
  const ofScope = Object.fromEntries(scope.attributes);
  return {
    ...(isEmpty(others) ? {} : { attributes: others }),
    ...(isEmpty(resourceAttributes) ? {} : { resourceAttributes }),
    ...(scope.name === ''
      ? {}
      : {
          scope: {
            name: scope.name,
            ...(scope.version === '' ? {} : { version: scope.version }),
            ...(isEmpty(ofScope) ? {} : { attributes: ofScope }),
          },
        }),
    ...(isEmpty(experiment) ? {} : { experiment }),
    ...recordOf(attributes, ['metadata', 'langfuse.observation.metadata']),
  };
};

const observationStateOf = (
  span: Span,
  { input, output, metadata }: InputOutput & { metadata: Record<string, unknown> },
  rank: Rank,
): State => {
  const type = typeOf(span.attributes);
  const statusMessage = statusMessageOf(span);
  const given: Given = {
    type,
    name: cutText(nameOf(span)),
    parentId: span.parentId,
    endTime: Math.floor(span.endUs / 1_000),
    level: levelOf(span),
    statusMessage: statusMessage === undefined ? undefined : cleanText(statusMessage),
    version: versionOf(span),
    environment: environmentOf(span),
    ...modelUseOf(span, type),
    input,
    output,
  };
  const startMs = Math.floor(span.startUs / 1_000);
  return {
    at: startMs,
    guessedAt: startMs,
    values: rankAll(given, rank),
    tags: [],
    metadata: metadataOf(metadata, rank),
  };
};

/** Converts a span to the states of its observation and its trace. */
export const readSpan = (span: Span): SpanStates => {
  const rank = rankOf('create', span.endUs, 0);
  const io = inputOutputOf(span);
  const metadata = observationMetadata(span, io.names);
  return {
    id: span.spanId,
    traceId: span.traceId,
    observation: observationStateOf(span, { ...io, metadata }, rank),
    trace: traceStateOf(span, { ...io, metadata }, rank),
  };
};
