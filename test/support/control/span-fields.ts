/** Reads one span as an instrumentation sends it, and returns briefly what the service understands of it. */
import { readJsonForm } from '../../../src/observability/otlp/json-form.ts';
import { readExport } from '../../../src/observability/otlp/read-export.ts';
import { fieldOf, metadataOf } from '../../../src/observability/state.ts';

type Value = string | number | boolean | readonly string[];

const anyOf = (value: Value): object => {
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  if (typeof value !== 'number') {
    return { arrayValue: { values: value.map((stringValue) => ({ stringValue })) } };
  }
  return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value };
};
export type Attributes = Readonly<Record<string, Value>>;
const listOf = (attributes: Attributes) =>
  Object.entries(attributes).map(([key, value]) => ({ key, value: anyOf(value) }));

type Given = {
  name?: string;
  attributes?: Attributes;
  resource?: Attributes;
  scope?: string;
  events?: { name: string; attributes: Attributes }[];
  status?: object;
  parentSpanId?: string;
};

/** Start of the span, in milliseconds since 1970. */
export const start = Date.UTC(2026, 2, 1);

/** Returns the fields that a span sets; unset ones are left out. */
export const fieldsOf = ({
  name = 'span',
  attributes = {},
  resource = {},
  scope = '',
  ...rest
}: Given) => {
  const { events = [], status, parentSpanId = '00000000000000aa' } = rest;
  const span = {
    traceId: '1'.repeat(32),
    spanId: '2'.repeat(16),
    parentSpanId,
    name,
    startTimeUnixNano: `${start}000000`,
    endTimeUnixNano: `${start + 500}000000`,
    attributes: listOf(attributes),
    events: events.map((event) => ({ ...event, attributes: listOf(event.attributes) })),
    status,
  };
  const scopeSpans = [{ scope: { name: scope }, spans: [span] }];
  const body = { resourceSpans: [{ resource: { attributes: listOf(resource) }, scopeSpans }] };
  const [read] = readExport(readJsonForm(body)).spans;
  if (read === undefined) throw new Error('the span was left out');
  const { observation, trace } = read;
  const json = (field: string) => {
    const text = fieldOf(observation, field);
    return typeof text === 'string' ? JSON.parse(text) : undefined;
  };
  const field = (name: string) => fieldOf(observation, name) ?? undefined;
  const ofTrace = (name: string) => fieldOf(trace, name) ?? undefined;
  return {
    type: field('type'),
    name: field('name'),
    level: field('level'),
    statusMessage: field('statusMessage'),
    model: field('model'),
    parameters: json('modelParametersJson'),
    usage: json('usageJson'),
    cost: json('costJson'),
    completionStartTime: field('completionStartTime'),
    prompt: field('promptName') && [field('promptName'), field('promptVersion')],
    input: json('input'),
    output: json('output'),
    environment: field('environment'),
    version: field('version'),
    metadata: metadataOf(observation) as Record<string, unknown> | undefined,
    trace: {
      name: ofTrace('name'),
      userId: ofTrace('userId'),
      sessionId: ofTrace('sessionId'),
      release: ofTrace('release'),
      public: ofTrace('public'),
      input: ofTrace('input'),
      tags: trace.tags,
      metadata: metadataOf(trace),
    },
  };
};
