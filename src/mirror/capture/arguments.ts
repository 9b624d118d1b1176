/**
 * The arguments that operations are asked with. Some are given. Others come from rows that were captured before: the
 * list first, then each of its items. Which field of which row an argument stands for is what the route's filter says,
 * and the relationships of the data model lead from there to the rows that it refers to.
 */
import { fieldPolicy } from '#language/capture/redact.ts';
import type { Contract, Row, VendorOperation } from '#language/contract.ts';
import { valueAtPath } from '#language/field-path.ts';
import { pathArguments } from '#language/path-segments.ts';
import { argumentPolicy } from '../redact/redact-answer.ts';

/** Values by argument; one given for an operation goes before one given for all. */
export type GivenArguments = {
  everywhere: ReadonlyMap<string, readonly string[]>;
  byOperation: ReadonlyMap<string, ReadonlyMap<string, readonly string[]>>;
  /** Whole sets of arguments, for operations that are to be asked with these. */
  sets: ReadonlyMap<string, readonly Row[]>;
};

/** Where the arguments that are not given come from: fields of the rows of an entity. */
export type Source = { entity: string; fields: { argument: string; path: string[] }[] };

export type OperationPlan = {
  operation: VendorOperation;
  /** What is given: each combination once. */
  given: Row[];
  source: Source | null;
};

/** An operation that is not asked, and why. */
export type Skipped = { operation: string; reason: string };

const combine = (values: readonly (readonly [string, readonly string[]])[]): Row[] =>
  values.reduce<Row[]>(
    (rows, [name, list]) => rows.flatMap((row) => list.map((value) => ({ ...row, [name]: value }))),
    [{}],
  );

const givenTo = (
  { name, params, segments }: VendorOperation,
  { everywhere, byOperation }: GivenArguments,
): (readonly [string, readonly string[]])[] => {
  const names = [...pathArguments(segments), ...params.map((param) => param.name)];
  return names.flatMap((argument) => {
    const values = byOperation.get(name)?.get(argument) ?? everywhere.get(argument);
    return values === undefined ? [] : [[argument, values] as const];
  });
};

/** Which field of the operation's entity an argument stands for. */
const fieldOf = (contract: Contract, operation: VendorOperation, argument: string) => {
  const route = contract.api?.routes.find((one) => one.operation === operation.name);
  const filtered = route?.filter.find((one) => one.argument === argument)?.path;
  const carried = operation.ingest.carryArgs.find((one) => one.argument === argument)?.field;
  return filtered ?? (carried === undefined ? undefined : [carried]);
};

/** The same fields in the rows that they refer to, when a relationship covers them all. */
const referredTo = (
  contract: Contract,
  entity: string,
  fields: Source['fields'],
): Source | null => {
  const found = contract.entities.find(({ name }) => name === entity);
  for (const { fields: foreign, target } of found?.relationships ?? []) {
    const key = contract.entities.find(({ name }) => name === target)?.primaryKey ?? [];
    const mapped = fields.map(({ argument, path }) => {
      const index = path.length === 1 ? foreign.indexOf(path[0] ?? '') : -1;
      return { argument, path: index === -1 ? [] : [key[index] ?? ''] };
    });
    if (mapped.every(({ path }) => path.length > 0)) return { entity: target, fields: mapped };
  }
  return null;
};

const entitiesOf = ({ entity, ingest }: VendorOperation): string[] =>
  entity === null ? [] : [entity, ...ingest.explode.map((one) => one.entity)];

const findSource = (
  contract: Contract,
  operation: VendorOperation,
  missing: readonly string[],
  others: readonly VendorOperation[],
): Source | string => {
  const fields = missing.map((argument) => ({
    argument,
    path: fieldOf(contract, operation, argument) ?? [],
  }));
  const unknown = fields.find(({ path }) => path.length === 0);
  if (unknown !== undefined || operation.entity === null) {
    return `nobody says what "${unknown?.argument ?? missing[0]}" is`;
  }
  const yielded = new Set(others.flatMap(entitiesOf));
  const own = { entity: operation.entity, fields };
  const foreign = referredTo(contract, operation.entity, fields);
  if (foreign !== null && yielded.has(foreign.entity)) return foreign;
  if (yielded.has(own.entity)) return own;
  return `no other operation yields the rows that "${missing[0]}" could come from`;
};

/** Whether captured rows do not hold the value that an argument would be. */
const isHidden = ({ redact }: Contract, source: Source | string, argument: string): boolean => {
  if (redact === null || typeof source === 'string') return false;
  const path = source.fields.find((one) => one.argument === argument)?.path;
  return path !== undefined && fieldPolicy(redact, path) !== undefined;
};

/** What each operation is asked with, in the order in which rows become known; the rest with reasons. */
export const planOperations = (
  contract: Contract,
  operations: readonly VendorOperation[],
  given: GivenArguments,
): { plans: OperationPlan[]; skipped: Skipped[] } => {
  const skipped: Skipped[] = [];
  const wanted = operations.flatMap((operation): OperationPlan[] => {
    const sets = given.sets.get(operation.name);
    if (sets !== undefined) return [{ operation, given: [...sets], source: null }];
    const values = givenTo(operation, given);
    const missing = pathArguments(operation.segments).filter(
      (name) => !values.some(([known]) => known === name),
    );
    if (missing.length === 0) return [{ operation, given: combine(values), source: null }];
    const others = operations.filter((other) => other !== operation);
    const source = findSource(contract, operation, missing, others);
    const hidden = missing.find(
      (name) =>
        argumentPolicy(contract, operation, name) !== undefined || isHidden(contract, source, name),
    );
    if (typeof source !== 'string' && hidden === undefined) {
      return [{ operation, given: combine(values), source }];
    }
    const why = typeof source === 'string' ? source : `"${hidden}" is redacted in captured rows`;
    const reason = `${why}: give it with --arg ${operation.name}.${hidden ?? missing[0]}=<value>`;
    skipped.push({ operation: operation.name, reason });
    return [];
  });
  const { plans, left } = inOrder(wanted);
  for (const { operation, source } of left) {
    const reason = `its arguments come from ${source?.entity}, whose rows come from it`;
    skipped.push({ operation: operation.name, reason });
  }
  return { plans, skipped };
};

/** Each after those that yield the rows it is asked with. */
const inOrder = (wanted: readonly OperationPlan[]) => {
  const plans: OperationPlan[] = [];
  let left = [...wanted];
  const isReady = ({ operation, source }: OperationPlan): boolean =>
    source === null ||
    !left.some(
      (other) =>
        other.operation !== operation &&
        entitiesOf(other.operation).includes(source.entity) &&
        // Of two that need each other's rows, the one with fewer arguments comes first.
        pathArguments(other.operation.segments).length < pathArguments(operation.segments).length,
    );
  for (;;) {
    const next = left.find(({ source }) => source === null) ?? left.find(isReady);
    if (next === undefined) return { plans, left };
    plans.push(next);
    left = left.filter((one) => one !== next);
  }
};

/** The argument sets that rows give, each once, at most so many. */
export const argumentsFromRows = (
  { given, source }: OperationPlan,
  rowsOf: (entity: string) => readonly Row[],
  most: number,
): Row[] => {
  if (source === null) return given;
  const sets = new Map<string, Row>();
  for (const row of rowsOf(source.entity)) {
    const values = source.fields.map(({ argument, path }) => [argument, valueAtPath(row, path)]);
    if (values.some(([, value]) => value === undefined || value === null)) continue;
    const set = Object.fromEntries(values.map(([name, value]) => [name, String(value)])) as Row;
    const key = JSON.stringify(set);
    if (!sets.has(key)) sets.set(key, set);
    if (sets.size === most) break;
  }
  return given.flatMap((fixed) => [...sets.values()].map((set) => ({ ...fixed, ...set })));
};
