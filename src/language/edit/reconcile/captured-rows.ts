/**
 * Reads the rows of a tree's captures, and the tree's own rows of the same entities. The connector's operations decide
 * how captures are read, even if the operations name fields that the data model lacks, because reconciling adds those
 * fields.
 */
import { type IngestGap, ingestAnswer } from '../../capture/ingest.ts';
import { buildModel } from '../../check/entities.ts';
import type { Model } from '../../check/model.ts';
import { readOperations } from '../../check/route-draft.ts';
import { checkVendor } from '../../check/vendor.ts';
import type { Row, VendorOperation } from '../../contract.ts';
import { valueAtPath } from '../../field-path.ts';
import { captureFolder, matchCaptures, readCaptures } from '../../files/capture-json.ts';
import { type Connector, connectorFile, readConnector } from '../../files/connector-toml.ts';
import { readWorldJson } from '../../files/world-json.ts';
import type { Problem } from '../../problem.ts';
import type { Problems } from '../../read/place.ts';
import type { Tree } from '../../read/tree.ts';
import { isTable } from '../../read/values.ts';
import type { RowSource } from './findings.ts';

/** A row with its source, and its index among the rows of its entity in that source. */
export type SourcedRow = {
  row: Row;
  source: RowSource;
  index: number;
  /**
   * True if the answer has a list of rows, false if it has a single row. Exploded rows have the value of their answer.
   */
  isListed: boolean;
};

export type CapturedRows = {
  model: Model;
  connector: Connector;
  captured: SourcedRow[];
  /** Rows of the tree itself, of those entities that have captured rows. */
  others: SourcedRow[];
  /** Places in answers that do not have the form that their operation expects. */
  gaps: { file: string; gap: IngestGap }[];
  /** Paths of the captures of failed requests, which have no rows. */
  failed: string[];
};

type CapturedRowsResult = { ok: true; rows: CapturedRows } | { ok: false; problems: Problem[] };

/** Codes of problems that are solved by adding a field, or by making a field optional. */
const curableCodes = new Set(['unknown_field', 'bad_ingest']);

const isCurable = ({ file, code }: Problem): boolean =>
  file === connectorFile && curableCodes.has(code);

const isText = (value: unknown): value is string => typeof value === 'string';

/** Converts an argument, which is a text in a URL, to the type of the field into which it is written. */
const asDeclared = (value: unknown, field: string, entity: string, model: Model): unknown => {
  const shape = model.entities.get(entity)?.schema;
  const types = model.analysis.types(model.analysis.at(shape ?? true, [field]));
  if (!isText(value) || types.has('string')) return value;
  const number = Number(value);
  if (types.has('integer') && /^-?\d+$/.test(value) && Number.isSafeInteger(number)) return number;
  if (types.has('number') && value.trim() !== '' && Number.isFinite(number)) return number;
  if (types.has('boolean') && /^(true|false)$/.test(value)) return value === 'true';
  return value;
};

/** Returns the fields of an entity's rows that an operation fills with arguments. */
const argumentFields = ({ entity, ingest }: VendorOperation, of: string): string[] => {
  const fields = ingest.carryArgs.map(({ field }) => field);
  const exploded = ingest.explode
    .filter((explode) => explode.entity === of)
    .flatMap(({ carry }) => carry)
    .filter(({ from }) => from.length === 1 && fields.includes(from[0] ?? ''))
    .map(({ field }) => field);
  return of === entity ? [...fields, ...exploded] : exploded;
};

const convertArguments = (
  row: Row,
  entity: string,
  operation: VendorOperation,
  model: Model,
): Row => {
  const fields = argumentFields(operation, entity).filter((field) => Object.hasOwn(row, field));
  const converted = fields.map((field): [string, unknown] => [
    field,
    asDeclared(row[field], field, entity, model),
  ]);
  return { ...row, ...Object.fromEntries(converted) };
};

const readCaptured = (
  tree: Tree,
  operations: readonly VendorOperation[],
  model: Model,
): Pick<CapturedRows, 'captured' | 'gaps' | 'failed'> => {
  const answers = matchCaptures(readCaptures(tree), operations);
  const captured: SourcedRow[] = [];
  const gaps: CapturedRows['gaps'] = [];
  const failed: string[] = [];
  for (const { capture, operation } of answers) {
    const { file } = capture.place;
    const { status, redacted } = capture.value;
    const preserved = redacted === undefined ? {} : { preserved: redacted.preserve };
    if (status < 200 || status > 299) {
      failed.push(file);
      continue;
    }
    const { rows, missing } = ingestAnswer(operation, capture.value);
    const isListed = Array.isArray(valueAtPath(capture.value.body, operation.results));
    for (const gap of missing) gaps.push({ file, gap });
    const sources = new Map<string, { source: RowSource; count: number }>();
    for (const { entity, row } of rows) {
      const known = sources.get(entity);
      const source = known?.source ?? { entity, file, isCaptured: true, ...preserved };
      const index = known?.count ?? 0;
      sources.set(entity, { source, count: index + 1 });
      captured.push({
        row: convertArguments(row, entity, operation, model),
        ...{ source, index, isListed },
      });
    }
  }
  return { captured, gaps, failed };
};

/** Returns the rows of `data/` and of seeds. Values that are not lists of rows are skipped; compiling refuses them. */
const readOthers = (tree: Tree, entities: ReadonlySet<string>): SourcedRow[] =>
  tree.paths('').flatMap((file) => {
    const [, entity = ''] = /^(?:data|scenarios\/[^/]+\/seed)\/([^/]+)\.json$/.exec(file) ?? [];
    const rows = entities.has(entity) ? tree.json(file)?.value : undefined;
    if (!Array.isArray(rows)) return [];
    const source: RowSource = { entity, file, isCaptured: false };
    return rows.filter(isTable).map((row, index) => ({ row, source, index, isListed: true }));
  });

/** Reads the captures of a tree; returns the problems if any prevents it. */
export const readCapturedRows = (tree: Tree, problems: Problems): CapturedRowsResult => {
  const world = readWorldJson(tree);
  const model = world === undefined ? undefined : buildModel(world, tree).model;
  if (!tree.has(connectorFile)) {
    const message = `captures are read by ${connectorFile}, which the tree does not have`;
    tree.place(connectorFile).refuse('missing_file', message);
  }
  const connector = readConnector(tree);
  if (model === undefined || connector === undefined) {
    return { ok: false, problems: problems.list() };
  }
  const { operations } = checkVendor(connector, readOperations(connector, model), model);
  const known = problems.list();
  if (!known.every(isCurable)) {
    return { ok: false, problems: known.filter((problem) => !isCurable(problem)) };
  }
  const read = readCaptured(tree, operations, model);
  const broken = problems.list().filter(({ file }) => file.startsWith(captureFolder));
  if (broken.length > 0) return { ok: false, problems: broken };
  const entities = new Set(read.captured.map(({ source }) => source.entity));
  const others = readOthers(tree, entities);
  return { ok: true, rows: { model, connector, others, ...read } };
};
