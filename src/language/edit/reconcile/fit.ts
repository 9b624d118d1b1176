/**
 * Fits the schemas of a world to captured rows: compares the rows with the schemas, relaxes each schema that rejects a
 * row, and repeats this until every row is accepted. If interacting keywords still reject rows after some rounds, the
 * schemas of those fields are replaced by schemas built from the rows.
 */
import { own } from '#domain/json.ts';
import type { Model } from '../../check/model.ts';
import type { EntityContract } from '../../contract.ts';
import { worldFile } from '../../files/world-json.ts';
import type { Problem } from '../../problem.ts';
import type { ProblemCode } from '../../read/codes.ts';
import { isTable } from '../../read/values.ts';
import { createShapeChecker, type RowChecker } from '../../schema/checkers.ts';
import type { SourcedRow } from './captured-rows.ts';
import type { ChangeLog } from './change-log.ts';
import { type Documents, isNode, type Located, type Node } from './documents.ts';
import { keyNodes, keyProblem, settleKeyType } from './key-types.ts';
import { createObservation, type Observation } from './observe.ts';
import { isNote, relax } from './relax.ts';
import { createFieldBudget, createSeen, schemaOf, see } from './seen.ts';

type Fitting = {
  documents: Documents;
  model: Model;
  captured: readonly SourcedRow[];
  others: readonly SourcedRow[];
  log: ChangeLog;
};

const maxRounds = 6;

const unusable: ProblemCode = 'unusable_capture';

const checkerOf = ({ documents, model }: Fitting): RowChecker => {
  const entities = [...model.entities.values()].map(
    (entity): EntityContract => ({
      ...entity,
      schema: documents.plain({ file: worldFile, node: documents.entitySchema(entity.name) }),
    }),
  );
  return createShapeChecker({ definitions: documents.definitions(), entities });
};

const fitsAll = (fitting: Fitting): boolean => {
  const checker = checkerOf(fitting);
  return fitting.captured.every(
    ({ row, source }) => checker.check(source.entity, row).length === 0,
  );
};

const observeAll = ({ documents, captured, others }: Fitting): Observation | undefined => {
  const observation = createObservation(documents);
  const isDone = [...captured, ...others].every(({ row, source }) =>
    observation.observe(row, source),
  );
  return isDone ? observation : undefined;
};

/** Relaxes every schema once. Returns a problem for each key whose type cannot be determined. */
const relaxAll = ({ documents, model, log }: Fitting, { findings }: Observation): Problem[] => {
  const keys = keyNodes(documents, model);
  const places = documents.places();
  const problems: Problem[] = [];
  for (const [node, found] of findings) {
    const place = places.get(node);
    if (place === undefined) continue;
    const subject = { node, ...place, found, log };
    if (keys.has(node)) {
      const problem = keyProblem(subject);
      if (problem !== undefined) problems.push(problem);
      settleKeyType(subject);
    }
    relax(subject);
  }
  return problems;
};

/** Follows references to the schema that describes the row itself. */
const rootOf = (documents: Documents, entity: string): Located & { node: Node } => {
  let at: Located = { file: worldFile, node: documents.entitySchema(entity) };
  for (;;) {
    if (!isNode(at.node)) throw new Error(`the entity ${entity} has no row shape`);
    const target = documents.resolve(at.file, at.node.$ref);
    if (target === undefined) return { file: at.file, node: at.node };
    at = target;
  }
};

const rootKeywords = new Set(['type', 'properties', 'required', 'additionalProperties']);

/** Replaces those field schemas of an entity that still reject rows by schemas built from the rows. */
const replaceFields = (fitting: Fitting, entity: string, fields: ReadonlySet<string>): void => {
  const { documents, log, captured, others } = fitting;
  const { node } = rootOf(documents, entity);
  const place = documents.places().get(node);
  if (place === undefined) return;
  const { file, path } = place;
  const reason = 'no smaller change makes all captured rows valid';
  for (const keyword of Object.keys(node)) {
    if (!fields.has('') || rootKeywords.has(keyword) || isNote(keyword)) continue;
    log.note(file, [...path, keyword], reason);
    delete node[keyword];
  }
  const properties = isTable(node.properties) ? (node.properties as Node) : {};
  const budget = createFieldBudget();
  const rows = [...captured, ...others].filter(({ source }) => source.entity === entity);
  for (const field of fields) {
    if (own(properties, field) === undefined) continue;
    const seen = createSeen(budget);
    for (const { row } of rows) if (Object.hasOwn(row, field)) see(seen, row[field]);
    log.note(file, [...path, 'properties', field], reason);
    properties[field] = schemaOf(seen);
  }
};

const replaceAll = (fitting: Fitting): void => {
  const checker = checkerOf(fitting);
  const failing = new Map<string, Set<string>>();
  for (const { row, source } of fitting.captured) {
    const fields = failing.get(source.entity) ?? new Set<string>();
    failing.set(source.entity, fields);
    for (const { field } of checker.check(source.entity, row)) fields.add(field);
  }
  for (const [entity, fields] of failing) {
    if (fields.size > 0) replaceFields(fitting, entity, fields);
  }
};

const unfit = (message: string, hint: string): Problem[] => [
  { file: '', pointer: '', code: unusable, message, hint },
];

/** Changes the documents so that all captured rows fit; returns the problems if any prevents it. */
export const fitDocuments = (fitting: Fitting): Problem[] => {
  for (let round = 0; round < maxRounds; round += 1) {
    if (fitsAll(fitting)) return [];
    const observation = observeAll(fitting);
    if (observation === undefined) {
      const message = 'the captures have too many values to be compared with the data model';
      return unfit(message, 'keep a few captures of each operation');
    }
    const problems = relaxAll(fitting, observation);
    if (problems.length > 0) return problems;
  }
  if (fitsAll(fitting)) return [];
  replaceAll(fitting);
  if (fitsAll(fitting)) return [];
  const message = 'no data model was found for which all captured rows are valid';
  return unfit(message, 'simplify the schemas that reject the rows');
};
