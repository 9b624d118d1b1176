/**
 * What a handler gets of a body in place of the whole: members that may be large are JSON text, as they
 * are stored or passed on. It is made where the body is read, which for a large body is a process of its
 * own; so these functions are pure and take and give plain data.
 */
import { type CallError, shortErrorJson } from '#domain/call.ts';
import { AppError } from '#domain/error.ts';
import { type RedactionMode, redactionModes } from '#language/redaction-modes.ts';
import { readJsonForm } from '#observability/otlp/json-form.ts';
import { readExport } from '#observability/otlp/read-export.ts';
import type { SentScope } from '#observability/otlp/span.ts';
import { readBatch } from '#observability/read-batch.ts';
import { cleanText } from '#observability/read-value.ts';
import type { answerCall, deliverRequests, reportClosed } from '#wire/host-api/operations.ts';
import type { Input } from '#wire/operation.ts';
import type {
  DatasetBody,
  DatasetItemBody,
  DatasetRunItemBody,
} from '#wire/public-api/evaluation/dataset.ts';
import type { IngestionBody } from '#wire/public-api/observability/ingestion.ts';
import type { SpansBody } from '#wire/public-api/observability/otel.ts';
import type { CallRequest } from '#wire/public-api/sessions/call.ts';
import type { OpenSessionBody } from '#wire/public-api/sessions/session.ts';
import type { CreateBatchBody, ImportBody } from '#wire/public-api/worlds/data.ts';
import type { CreateTaskBody, UpdateTaskBody } from '#wire/public-api/worlds/task.ts';
import type { TaskSpec } from '#wire/public-api/worlds/task-spec.ts';
import type { BranchBody, PushBody } from '#wire/public-api/worlds/version.ts';
import type { CreateWorldBody } from '#wire/public-api/worlds/world.ts';
import { hashOf, hashOfSpec } from '../json/canonical.ts';
import { shownText, writeShown } from '../json/shown.ts';
import { type KeptEntry, readEntry } from './ledger-entry.ts';
import type { FaultOf } from './parse.ts';
import { keepMessages } from './rpc.ts';
import { sliced } from './slices.ts';

/** What else of the request matters for reading its body. */
export type KeepOptions = {
  /** Whether it has an `Idempotency-Key`, for which the body's hash is remembered. */
  isKeyed: boolean;
  /** How the body is written. */
  form: BodyForm;
  /** Of bodies whose entries are taken or refused each by itself. */
  faultOf?: FaultOf;
  /** True when a process of its own reads the body; default false. */
  isApart?: boolean;
};

export type BodyForm = 'json' | 'protobuf';

/** Of a task's metadata as many members are looked for, each so long. */
const mostLabels = 100;
const mostLabelChars = 256;

export type KeptCall = Omit<CallRequest, 'input'> & {
  inputJson: string;
  /** What a `seed` asks for; its input does not say it any more, as nobody after is to do it again. */
  redact: RedactionMode;
  /** What a `close` asks for: that its host keeps what it holds. */
  keepWarm: boolean;
  /** Of the whole body; null without an `Idempotency-Key`. */
  hash: string | null;
};

const isKeepWarm = (input: unknown): boolean =>
  typeof input === 'object' && input !== null && 'keepWarm' in input && input.keepWarm === true;

/** The input of a `seed` without what it says of redaction. Throws `invalid` for a mode that there is not. */
const readRedact = (
  input: Record<string, unknown>,
): { input: Record<string, unknown>; redact: RedactionMode } => {
  const { redact = 'off', ...rest } = input;
  const mode = redactionModes.find((known) => known === redact);
  if (mode !== undefined) return { input: rest, redact: mode };
  const message = `must be one of ${redactionModes.join(', ')}`;
  throw new AppError('invalid', `invalid request: input.redact ${message}`, {
    fields: [{ path: ['input', 'redact'], message }],
  });
};

const keepCall = (body: CallRequest, { isKeyed }: KeepOptions): KeptCall => {
  const { input: given = {}, ...rest } = body;
  const isSeed = body.kind === 'seed' && Object.hasOwn(given, 'redact');
  const { input, redact } = isSeed ? readRedact(given) : { input: given, redact: 'off' as const };
  const hash = isKeyed ? hashOf(body) : null;
  const keepWarm = body.kind === 'close' && isKeepWarm(input);
  return { ...rest, inputJson: JSON.stringify(input), redact, keepWarm, hash };
};

/** An inline task: what the service itself looks at, and the whole as JSON text. */
export type KeptTask = {
  name: string | null;
  instruction: string | null;
  /** The tools that the agent is given; null: all. */
  tools: string[] | null;
  /** The kind of its grader. */
  grader: NonNullable<TaskSpec['grader']>['kind'] | null;
  specJson: string;
};

export type KeptOpen = Omit<OpenSessionBody, 'task'> & {
  task?: string | { id: string } | { inline: KeptTask };
  /** Of the whole body; null without an `Idempotency-Key`. */
  hash: string | null;
};

/** A task in the form that a session keeps it in. */
export const keepTask = (spec: TaskSpec): KeptTask => ({
  name: spec.name ?? null,
  instruction: spec.instruction ?? null,
  tools: spec.tools ?? null,
  grader: spec.grader?.kind ?? null,
  specJson: JSON.stringify(spec),
});

const keepOpen = (body: OpenSessionBody, { isKeyed }: KeepOptions): KeptOpen => {
  const { task, ...rest } = body;
  const hash = isKeyed ? hashOf(body) : null;
  if (task === undefined) return { ...rest, hash };
  if (typeof task === 'string' || 'id' in task) return { ...rest, task, hash };
  return { ...rest, task: { inline: keepTask(task) }, hash };
};

export type KeptStoredTask = {
  /** The name that the spec has for itself, which a stored task has beside it. */
  name: string | null;
  /** The spec without that name, as JSON text, and `sha256:…` of it. */
  specJson: string;
  contentHash: string;
  labels: Record<string, string>;
  /** Whether its seed is to be redacted before it is stored. */
  redacts: boolean;
};

/** What lists are filtered by: the short members of the metadata, as texts. */
const labelsOf = (metadata: TaskSpec['metadata'] = {}): Record<string, string> => {
  const pairs = Object.entries(metadata).flatMap(([key, value]): [string, string][] => {
    if (typeof value === 'object' || value === undefined) return [];
    const text = String(value);
    const isShort = key.length <= mostLabelChars && text.length <= mostLabelChars;
    const isText = (given: string) => given.isWellFormed() && !given.includes('\0');
    return isShort && isText(key) && isText(text) ? [[key, text]] : [];
  });
  return Object.fromEntries(pairs.slice(0, mostLabels));
};

/** A spec in the form that stored tasks keep it in. */
export const keepSpec = ({ name, ...spec }: TaskSpec): KeptStoredTask => ({
  name: name ?? null,
  specJson: JSON.stringify(spec),
  contentHash: hashOfSpec(spec),
  labels: labelsOf(spec.metadata),
  redacts: spec.seed?.redact !== undefined,
});

const keepCreateTask = ({ spec, ...rest }: CreateTaskBody, { isKeyed }: KeepOptions) => ({
  ...rest,
  spec: keepSpec(spec),
  hash: isKeyed ? hashOf({ ...rest, spec }) : null,
});
export type KeptCreateTask = ReturnType<typeof keepCreateTask>;

const keepUpdateTask = ({ spec, ...rest }: UpdateTaskBody) => ({
  ...rest,
  ...(spec === undefined ? {} : { spec: keepSpec(spec) }),
});
export type KeptUpdateTask = ReturnType<typeof keepUpdateTask>;

export type KeptWorld = Omit<CreateWorldBody, 'data'> & {
  /** Rows by entity as JSON text; null when there are none. */
  rowsJson: string | null;
  redact: RedactionMode;
  /** Of the whole body; null without an `Idempotency-Key`. */
  hash: string | null;
};

const keepWorld = (body: CreateWorldBody, { isKeyed }: KeepOptions): KeptWorld => {
  const { data, ...rest } = body;
  const rowsJson = data === undefined ? null : JSON.stringify(data.rows);
  const redact = data?.redact ?? 'off';
  return { ...rest, rowsJson, redact, hash: isKeyed ? hashOf(body) : null };
};

/** A push, with the hash of its whole body; null without an `Idempotency-Key`. */
export type KeptPush = PushBody & { hash: string | null };

const keepPush = (body: PushBody, { isKeyed }: KeepOptions): KeptPush => ({
  ...body,
  hash: isKeyed ? hashOf(body) : null,
});

export type KeptImport = Omit<ImportBody, 'rows'> & {
  /** Rows by entity as JSON text, and the names of those. */
  rowsJson: string;
  entities: string[];
  /** How many of each, in the order of those. */
  rowCounts: number[];
  /** Of the whole body; null without an `Idempotency-Key`. */
  hash: string | null;
};

const keepImport = (body: ImportBody, { isKeyed }: KeepOptions): KeptImport => {
  const { rows, ...rest } = body;
  return {
    ...rest,
    rowsJson: JSON.stringify(rows),
    entities: Object.keys(rows),
    rowCounts: Object.values(rows).map((list) => list.length),
    hash: isKeyed ? hashOf(body) : null,
  };
};

const keepBatch = (body: CreateBatchBody, { isKeyed }: KeepOptions) => ({
  ...body,
  hash: isKeyed ? hashOf(body) : null,
});

/** A branch, likewise. */
export type KeptBranch = BranchBody & { hash: string | null };

const keepBranch = (body: BranchBody, { isKeyed }: KeepOptions): KeptBranch => ({
  ...body,
  hash: isKeyed ? hashOf(body) : null,
});

type KeptAnswer = {
  state: 'succeeded' | 'failed';
  outputJson: string | null;
  /** A `CallError` as JSON text. */
  errorJson: string | null;
  /** What lists tell of an error that has more to it. */
  shortErrorJson: string | null;
  changesJson: string;
};

const keepGiven = (given: {
  output?: unknown;
  error?: CallError | undefined;
  changes: object;
}): KeptAnswer => {
  const { output, error, changes } = given;
  if (output !== undefined && error !== undefined) {
    throw new AppError('invalid', 'an answer has an output or an error, not both', {
      fields: [{ path: ['answer'], message: 'has both an output and an error' }],
    });
  }
  return {
    state: error === undefined ? 'succeeded' : 'failed',
    outputJson: output === undefined ? null : writeShown(output),
    errorJson: error === undefined ? null : writeShown(error),
    shortErrorJson: error?.details === undefined ? null : shownText(shortErrorJson(error)),
    changesJson: JSON.stringify(changes),
  };
};

type AnswerBody = Input<typeof answerCall>['body'];

const keepAnswer = ({ generation, hold, final, answer }: AnswerBody) => ({
  generation,
  hold,
  final,
  answer: keepGiven(answer as Parameters<typeof keepGiven>[0]),
});

type EntriesBody = Input<typeof deliverRequests>['body'];

const keepEntries = ({
  generation,
  entries,
}: EntriesBody): { generation: number; entries: KeptEntry[] } => ({
  generation,
  entries: entries.map(readEntry),
});

type ClosedBody = Input<typeof reportClosed>['body'];

const keepClosed = ({ entries = [], ...rest }: ClosedBody) => ({
  ...rest,
  entries: entries.map(readEntry),
});

/** Events as they were read, each with what it says or what is wrong with it. */
const keepEvents = ({ batch }: IngestionBody, { faultOf, isApart }: KeepOptions) => ({
  events: sliced(readBatch(batch, faultOf), isApart),
});

/** Spans likewise. Throws `invalid` where none of them can be taken. */
export const keepExport = (sent: readonly SentScope[], { isApart }: KeepOptions) => {
  const { spans, ...rest } = readExport(sent);
  if (spans.length === 0 && rest.rejected > 0) {
    throw new AppError('invalid', `none of ${rest.rejected} spans can be taken: ${rest.reason}`);
  }
  return { ...rest, spans: sliced(spans, isApart) };
};

const keepSpans = (body: SpansBody, options: KeepOptions) =>
  keepExport(readJsonForm(body), options);

/** Free JSON as text; null where there is none. */
const textOf = (value: unknown): string | null =>
  value === undefined || value === null ? null : JSON.stringify(value);

const keepDataset = (body: DatasetBody) => ({
  name: body.name,
  description: body.description === undefined ? null : cleanText(body.description),
  metadata: textOf(body.metadata),
  inputSchema: textOf(body.inputSchema),
  expectedOutputSchema: textOf(body.expectedOutputSchema),
});

const keepItem = (body: DatasetItemBody) => ({
  datasetName: body.datasetName,
  id: body.id ?? null,
  input: textOf(body.input),
  output: textOf(body.expectedOutput),
  metadata: textOf(body.metadata),
  sourceTraceId: body.sourceTraceId ?? null,
  sourceObservationId: body.sourceObservationId ?? null,
  status: body.status ?? null,
});

const keepRunItem = (body: DatasetRunItemBody) => ({
  runName: body.runName,
  runDescription: body.runDescription ?? null,
  metadata: textOf(body.metadata),
  datasetItemId: body.datasetItemId,
  traceId: body.traceId ?? null,
  observationId: body.observationId ?? null,
  datasetVersion: body.datasetVersion ?? null,
  createdAt: body.createdAt ?? null,
});

/** Nothing is kept of metrics. */
const keepNothing = () => ({});

/** By the id of the operation; a body of any other is kept as it is. */
export const keepers = {
  enqueueCall: keepCall,
  openSession: keepOpen,
  createWorld: keepWorld,
  importData: keepImport,
  createBatch: keepBatch,
  pushVersion: keepPush,
  createTask: keepCreateTask,
  updateTask: keepUpdateTask,
  pushBundle: keepPush,
  branchContainer: keepBranch,
  answerCall: keepAnswer,
  deliverRequests: keepEntries,
  reportClosed: keepClosed,
  callService: keepMessages,
  callSessionServer: keepMessages,
  relaySessionServer: keepMessages,
  ingest: keepEvents,
  ingestSpans: keepSpans,
  ingestMetrics: keepNothing,
  createDataset: keepDataset,
  createNamedDataset: keepDataset,
  createDatasetItem: keepItem,
  createDatasetRunItem: keepRunItem,
} as const;

/** What the handler of an operation gets for a body. */
export type Kept<Id, Body> = Id extends keyof typeof keepers
  ? ReturnType<(typeof keepers)[Id]>
  : Body;
