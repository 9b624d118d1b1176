/**
 * Compares rows with the schemas of a world as they are written, and collects for each schema the values that violate
 * it. It changes nothing and stores no row, so memory grows with the schemas and not with the rows.
 */
import { own } from '#domain/json.ts';
import { worldFile } from '../../files/world-json.ts';
import { isTable, type Table } from '../../read/values.ts';
import { createAnalysis, type JsonType } from '../../schema/analysis.ts';
import { createShapes } from '../../schema/shapes.ts';
import { type Documents, isNode, type Located, type Node } from './documents.ts';
import { counted, createFindings, type Findings, type RowSource } from './findings.ts';
import { patternOf } from './keyword-faults.ts';
import {
  type LocatedNode,
  likeness,
  listIn,
  noteBroken,
  noteSeen,
  observeKeywords,
  observeListed,
  observeType,
  type Watch,
} from './observe-keywords.ts';
import { createFieldBudget, createSeen, see, typeOfValue } from './seen.ts';

export type Observation = {
  /** Compares a row with the schema of its entity. Returns false when the limit of steps is reached. */
  observe(row: unknown, source: RowSource): boolean;
  /** Findings by schema, in the order in which the schemas were first compared. */
  findings: ReadonlyMap<Node, Findings>;
};

/** Maximum number of comparisons of a schema with a value, because more would take too long. */
const maxSteps = 5_000_000;

/** Returns true if a schema to which this one refers, or which it combines, does not allow null. */
const keepsNullOut = ({ file, node }: LocatedNode, { documents, typesOf }: Watch): boolean => {
  const target = documents.resolve(file, node.$ref);
  const parts = listIn(node.allOf).map((part): Located => ({ file, node: part }));
  const shapes = target === undefined ? parts : [target, ...parts];
  return shapes.some((shape) => !typesOf(shape).has('null'));
};

const observeChoice = (
  keyword: 'anyOf' | 'oneOf',
  { file, node }: LocatedNode,
  found: Findings,
  value: unknown,
  source: RowSource,
  watch: Watch,
): void => {
  const branches = listIn(node[keyword]).map((branch): Located => ({ file, node: branch }));
  const candidates = branches.filter((branch) => watch.typesOf(branch).has(typeOfValue(value)));
  const [only] = candidates;
  if (only === undefined) {
    if (source.isCaptured) found.unmatched = noteSeen(found.unmatched, value, source, watch);
    return;
  }
  if (candidates.length === 1) {
    observePart(only, value, source, watch);
    return;
  }
  const fitting = candidates.filter((branch) =>
    watch.fits(node, `${keyword} ${branches.indexOf(branch)}`, () => branch, value),
  );
  if (keyword === 'oneOf' && fitting.length > 1 && source.isCaptured) {
    noteBroken(found, 'oneOf', value, source);
  }
  const alike = candidates.toSorted((a, b) => likeness(b.node, value) - likeness(a.node, value));
  observePart(fitting[0] ?? alike[0] ?? only, value, source, watch);
};

const noteAdded = (
  found: Findings,
  name: string,
  value: unknown,
  source: RowSource,
  { budget }: Watch,
): void => {
  const known = found.added.get(name);
  if (known === undefined && !source.isCaptured) return;
  const field = known ?? { captured: 0, others: 0, seen: createSeen(budget), first: source };
  field[source.isCaptured ? 'captured' : 'others'] += 1;
  see(field.seen, value);
  found.added.set(name, field);
};

const observeAbsence = (node: Node, found: Findings, value: Table, source: RowSource): void => {
  for (const name of source.isCaptured ? listIn(node.required) : []) {
    const field = String(name);
    if (Object.hasOwn(value, field)) continue;
    found.absent.set(field, counted(found.absent.get(field), source));
  }
};

const observeObject = (
  { file, node }: LocatedNode,
  found: Findings,
  value: Table,
  source: RowSource,
  watch: Watch,
): void => {
  observeAbsence(node, found, value, source);
  const properties = isTable(node.properties) ? node.properties : {};
  const patterns = Object.entries(isTable(node.patternProperties) ? node.patternProperties : {});
  for (const [name, part] of Object.entries(value)) {
    const property = own(properties, name);
    if (property === false) noteAdded(found, name, part, source, watch);
    else if (property !== undefined) observePart({ file, node: property }, part, source, watch);
    const matching = patterns.filter(([pattern]) => patternOf(pattern).test(name));
    for (const [, schema] of matching) {
      if (schema !== false) observePart({ file, node: schema }, part, source, watch);
      else if (source.isCaptured) noteBroken(found, 'patternProperties', name, source);
    }
    if (property !== undefined || matching.length > 0) continue;
    if (node.additionalProperties === false) noteAdded(found, name, part, source, watch);
    else observePart({ file, node: node.additionalProperties }, part, source, watch);
  }
};

const observeList = (
  { file, node }: LocatedNode,
  found: Findings,
  value: readonly unknown[],
  source: RowSource,
  watch: Watch,
): void => {
  const first = listIn(node.prefixItems);
  for (const [index, item] of value.entries()) {
    const schema = index < first.length ? first[index] : node.items;
    if (schema !== false) observePart({ file, node: schema }, item, source, watch);
    else if (!source.isCaptured) continue;
    else if (index < first.length) noteBroken(found, 'prefixItems', item, source);
    else found.extraItems = noteSeen(found.extraItems, item, source, watch);
  }
};

const observePart = (
  { file, node }: Located,
  value: unknown,
  source: RowSource,
  watch: Watch,
): void => {
  watch.steps += 1;
  if (!isNode(node) || watch.steps > maxSteps) return;
  const at = { file, node };
  const found = watch.findings.get(node) ?? createFindings();
  watch.findings.set(node, found);
  found[source.isCaptured ? 'captured' : 'others'] += 1;
  observeType(node, found, value, source, watch);
  if (source.isCaptured) {
    observeListed(node, found, value, source);
    observeKeywords(at, found, value, source, watch);
  }
  if (value === null && keepsNullOut(at, watch)) {
    if (source.isCaptured) found.nulls = counted(found.nulls, source);
    return;
  }
  const target = watch.documents.resolve(file, node.$ref);
  if (target !== undefined) observePart(target, value, source, watch);
  for (const part of listIn(node.allOf)) observePart({ file, node: part }, value, source, watch);
  for (const keyword of ['anyOf', 'oneOf'] as const) {
    if (!Array.isArray(node[keyword])) continue;
    observeChoice(keyword, at, found, value, source, watch);
  }
  if (Array.isArray(value)) observeList(at, found, value, source, watch);
  else if (isTable(value)) observeObject(at, found, value, source, watch);
};

/**
 * Creates the state of an observation. Validators and types of the present schemas are built when they are first used.
 */
const createWatch = (documents: Documents): Watch => {
  const definitions = documents.definitions();
  const analysis = createAnalysis(definitions);
  const types = new WeakMap<Node, ReadonlySet<JsonType>>();
  const checks = new WeakMap<Node, Map<string, (value: unknown) => boolean>>();
  const compile = (part: Located): ((value: unknown) => boolean) => {
    const shapes = createShapes(definitions, new Map([['part', documents.plain(part)]]));
    const check = shapes.get('part');
    return (value) => check?.(value).length === 0;
  };
  return {
    documents,
    findings: new Map(),
    budget: createFieldBudget(),
    steps: 0,
    typesOf(located) {
      const { node } = located;
      if (!isNode(node)) return analysis.types([node]);
      const known = types.get(node) ?? analysis.types([documents.plain(located)]);
      types.set(node, known);
      return known;
    },
    fits(owner, name, part, value) {
      const named = checks.get(owner) ?? new Map<string, (value: unknown) => boolean>();
      checks.set(owner, named);
      const check = named.get(name) ?? compile(part());
      named.set(name, check);
      return check(value);
    },
  };
};

/** Creates an observation of the present schemas. When the schemas change, a new observation is needed. */
export const createObservation = (documents: Documents): Observation => {
  const watch = createWatch(documents);
  return {
    findings: watch.findings,
    observe(row, source) {
      const node = documents.entitySchema(source.entity);
      observePart({ file: worldFile, node }, row, source, watch);
      return watch.steps <= maxSteps;
    },
  };
};
