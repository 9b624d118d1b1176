/**
 * Reads the trace fields of a span: from attributes about the trace, and from the span itself if it is the root span.
 */
import { cleanText, textLimits } from '../read-value.ts';
import { type Rank, rankOf, type State } from '../state.ts';
import {
  type Attributes,
  endingIn,
  firstOf,
  parseLoose,
  parseWritten,
  recordOf,
  textOf,
} from './attributes.ts';
import type { InputOutput } from './input-output.ts';
import {
  cutText,
  environmentOf,
  type Given,
  jsonOf,
  metadataOf,
  rankAll,
  versionOf,
} from './ranked-values.ts';
import type { Span } from './span.ts';

const tagNames = ['langfuse.trace.tags', 'langfuse.tags', 'ai.telemetry.metadata.tags', 'tag.tags'];

/** Reads tags given as a list, as a JSON list, or separated by commas. */
const tagsOf = (attributes: Attributes): string[] => {
  const given = parseLoose(
    firstOf(attributes, tagNames.slice(0, 2)) ??
      endingIn(attributes, '.metadata.langfuse_tags') ??
      firstOf(attributes, tagNames.slice(2)),
  );
  const list = typeof given === 'string' ? given.split(',') : Array.isArray(given) ? given : [];
  const texts = list.filter((one): one is string => typeof one === 'string');
  const tags = texts.map((text) => cleanText(text.trim().slice(0, textLimits.name)));
  return [...new Set(tags.filter((tag) => tag !== ''))].sort();
};

const isTrue = (value: unknown): boolean | undefined =>
  value === undefined ? undefined : value === true || value === 'true';

/**
 * Returns the first value of the attributes `names`, else the value `passedOn` in the metadata of a framework, else the
 * first value of the attributes `others`.
 */
const idOf = (
  attributes: Attributes,
  names: readonly string[],
  passedOn: string,
  others: readonly string[],
): string | undefined => {
  const given =
    textOf(attributes, names) ??
    endingIn(attributes, `.metadata.${passedOn}`) ??
    textOf(attributes, others);
  return given === undefined ? undefined : cutText(String(given));
};

const userOf = (attributes: Attributes): string | undefined =>
  idOf(attributes, ['langfuse.user.id', 'user.id'], 'langfuse_user_id', [
    'ai.telemetry.metadata.userId',
    'traceloop.association.properties.user_id',
  ]);

const sessionOf = (attributes: Attributes): string | undefined =>
  idOf(
    attributes,
    ['langfuse.session.id', 'session.id', 'gen_ai.conversation.id'],
    'langfuse_session_id',
    ['ai.telemetry.metadata.sessionId', 'traceloop.association.properties.session_id'],
  );

/** Members of the metadata of Vercel's AI SDK that are stored in fields of their own. */
const passedOn = ['userId', 'sessionId', 'tags', 'langfusePrompt'];

const traceMetadata = (attributes: Attributes): Record<string, unknown> => {
  const vercel = Object.entries(recordOf(attributes, ['ai.telemetry.metadata']));
  return {
    ...Object.fromEntries(vercel.filter(([name]) => !passedOn.includes(name))),
    ...recordOf(attributes, ['langfuse.trace.metadata', 'langfuse.metadata']),
  };
};

/**
 * Returns the state that the span contributes to its trace. If several spans of a trace give a value, the span that
 * ended last wins.
 */
export const traceStateOf = (
  span: Span,
  { input, output, metadata }: InputOutput & { metadata: Record<string, unknown> },
  rank: Rank,
): State => {
  const { attributes, resource, parentId } = span;
  const isRoot = parentId === null || isTrue(attributes.get('langfuse.internal.as_root'));
  const given: Given = {
    name: cutText(textOf(attributes, ['langfuse.trace.name'])),
    userId: userOf(attributes),
    sessionId: sessionOf(attributes),
    public: isTrue(firstOf(attributes, ['langfuse.trace.public', 'langfuse.public'])),
    release: cutText(
      textOf(attributes, ['langfuse.release']) ?? textOf(resource, ['langfuse.release']),
    ),
    version: versionOf(span),
    environment: environmentOf(span),
    input: jsonOf(parseWritten(attributes.get('langfuse.trace.input'))),
    output: jsonOf(parseWritten(attributes.get('langfuse.trace.output'))),
  };
  // Name, input, output and metadata of the root span count for the trace until a span gives those of the trace.
  const hints: Given = isRoot ? { name: cutText(span.name), input, output } : {};
  const hinted = rankOf('hint', span.startUs, 0);
  const startMs = Math.floor(span.startUs / 1_000);
  return {
    at: startMs,
    guessedAt: startMs,
    values: { ...rankAll(hints, hinted), ...rankAll(given, rank) },
    tags: tagsOf(attributes),
    metadata: [
      ...(isRoot ? metadataOf(metadata, hinted) : []),
      ...metadataOf(traceMetadata(attributes), rank),
    ],
  };
};
