/**
 * Converts bodies to the form that handlers get. Members that may be large become JSON text, because they are stored or
 * passed on as text. The conversion runs in the process that parses the body; for a large body, that is a child
 * process. So these functions are pure, and their inputs and outputs are plain data.
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

/** Facts about the request on which the conversion of its body depends. */
export type KeepOptions = {
  /** True if the request has an `Idempotency-Key`; a hash of the body is then stored with the key. */
  isKeyed: boolean;
  /** Encoding of the body: JSON or protobuf. */
  form: BodyForm;
  /** Returns why a single entry is refused. Set for bodies whose entries are accepted or refused one by one. */
  faultOf?: FaultOf;
  /** True if a child process parses the body; default false. */
  isApart?: boolean;
};

export type BodyForm = 'json' | 'protobuf';

/**
 * Limits on the labels taken from a task's metadata: the number of labels, and the length of their names and values in
 * characters.
 */
const mostLabels = 100;
const mostLabelChars = 256;

export type KeptCall = Omit<CallRequest, 'input'> & {
  inputJson: string;
  /**
   * Redaction mode that a `seed` call requests. It is removed from the input, so that the rows are not redacted again
   * later.
   */
  redact: RedactionMode;
  /** True if the input of a `close` call asks the host to keep its state warm. */
  keepWarm: boolean;
  /** Hash of the whole body; null if the request has no `Idempotency-Key`. */
  hash: string | null;
};

const isKeepWarm = (input: unknown): boolean =>
  typeof input === 'object' && input !== null && 'keepWarm' in input && input.keepWarm === true;

/** Separates the redaction mode from the input of a `seed` call. Throws `invalid` if the mode is unknown. */
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

/** Inline task: the members that the service itself uses, and the whole task as JSON text. */
export type KeptTask = {
  name: string | null;
  instruction: string | null;
  /** Names of the tools that the agent gets; null if it gets all. */
  tools: string[] | null;
  /** Kind of the task's grader; null if the task has none. */
  grader: NonNullable<TaskSpec['grader']>['kind'] | null;
  specJson: string;
};

export type KeptOpen = Omit<OpenSessionBody, 'task'> & {
  task?: string | { id: string } | { inline: KeptTask };
  /** Hash of the whole body; null if the request has no `Idempotency-Key`. */
  hash: string | null;
};

/** Converts the spec of a task to the form in which a session stores it. */
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
  /** Name in the spec; null if it has none. A stored task keeps the name in a separate column. */
  name: string | null;
  /** Spec without its name, as JSON text, and the hash of that spec in the form `sha256:…`. */
  specJson: string;
  contentHash: string;
  labels: Record<string, string>;
  /** True if the seed must be redacted before the task is stored. */
  redacts: boolean;
};

/** Returns the labels by which lists can be filtered: those members of the metadata that are short, as texts. */
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

/** Converts a spec to the form in which a stored task has it. */
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
  /** Rows by entity as JSON text; null if the body has none. */
  rowsJson: string | null;
  redact: RedactionMode;
  /** Hash of the whole body; null if the request has no `Idempotency-Key`. */
  hash: string | null;
};

const keepWorld = (body: CreateWorldBody, { isKeyed }: KeepOptions): KeptWorld => {
  const { data, ...rest } = body;
  const rowsJson = data === undefined ? null : JSON.stringify(data.rows);
  const redact = data?.redact ?? 'off';
  return { ...rest, rowsJson, redact, hash: isKeyed ? hashOf(body) : null };
};

/** Push with the hash of its whole body; the hash is null if the request has no `Idempotency-Key`. */
export type KeptPush = PushBody & { hash: string | null };

const keepPush = (body: PushBody, { isKeyed }: KeepOptions): KeptPush => ({
  ...body,
  hash: isKeyed ? hashOf(body) : null,
});

export type KeptImport = Omit<ImportBody, 'rows'> & {
  /** Rows by entity as JSON text, and the names of the entities. */
  rowsJson: string;
  entities: string[];
  /** Number of rows of each entity, in the order of `entities`. */
  rowCounts: number[];
  /** Hash of the whole body; null if the request has no `Idempotency-Key`. */
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

/** Branch request with the hash of its whole body; the hash is null if the request has no `Idempotency-Key`. */
export type KeptBranch = BranchBody & { hash: string | null };

const keepBranch = (body: BranchBody, { isKeyed }: KeepOptions): KeptBranch => ({
  ...body,
  hash: isKeyed ? hashOf(body) : null,
});

type KeptAnswer = {
  state: 'succeeded' | 'failed';
  outputJson: string | null;
  /** A `CallError` as JSON text; null if the answer has no error. */
  errorJson: string | null;
  /** The error without its details, as lists show it; null if the answer has no error. */
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
    throw new AppError('invalid', 'an answer must have either an output or an error, not both', {
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

/** Reads the events of a batch. Each is returned with its content or its problem. */
const keepEvents = ({ batch }: IngestionBody, { faultOf, isApart }: KeepOptions) => ({
  events: sliced(readBatch(batch, faultOf), isApart),
});

/** Reads the spans of an OTLP export. Throws `invalid` if every span is rejected. */
export const keepExport = (sent: readonly SentScope[], { isApart }: KeepOptions) => {
  const { spans, ...rest } = readExport(sent);
  if (spans.length === 0 && rest.rejected > 0) {
    throw new AppError(
      'invalid',
      `none of the ${rest.rejected} spans can be accepted: ${rest.reason}`,
    );
  }
  return { ...rest, spans: sliced(spans, isApart) };
};

const keepSpans = (body: SpansBody, options: KeepOptions) =>
  keepExport(readJsonForm(body), options);

/** Returns a value without a fixed schema as JSON text; null if the value is absent. */
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

/** Returns an empty body in place of metrics, which are not stored. */
const keepNothing = () => ({});

/** Conversions of bodies, by operation id. The body of any other operation is passed on unchanged. */
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

/** Type of the body that the handler of an operation gets. */
export type Kept<Id, Body> = Id extends keyof typeof keepers
  ? ReturnType<(typeof keepers)[Id]>
  : Body;
