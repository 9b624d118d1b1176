/**
 * Finds the arguments for each operation of a capture. The user gives some of them. The others come from rows that were
 * captured before: first a list is requested, then each of its items. The route's filter shows which field of a row an
 * argument corresponds to. From there, relationships of the data model lead to the rows that the field refers to.
 */
import { fieldPolicy } from '#language/capture/redact.ts';
import type { Contract, Row, VendorOperation } from '#language/contract.ts';
import { valueAtPath } from '#language/field-path.ts';
import { pathArguments } from '#language/path-segments.ts';
import { argumentPolicy } from '../redact/redact-answer.ts';

/** Given values by argument. A value given for one operation takes precedence over a value given for all operations. */
export type GivenArguments = {
  everywhere: ReadonlyMap<string, readonly string[]>;
  byOperation: ReadonlyMap<string, ReadonlyMap<string, readonly string[]>>;
  /** Given complete sets of arguments by operation. They replace all other values for the operation. */
  sets: ReadonlyMap<string, readonly Row[]>;
};

/** Source of the arguments that the user does not give: fields of the rows of an entity. */
export type Source = { entity: string; fields: { argument: string; path: string[] }[] };

export type OperationPlan = {
  operation: VendorOperation;
  /** Arguments that the user gave, one entry for each combination. */
  given: Row[];
  source: Source | null;
};

/** An operation that is skipped, and why. */
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

/** Returns the field of the operation's entity that an argument corresponds to; undefined if it is unknown. */
const fieldOf = (contract: Contract, operation: VendorOperation, argument: string) => {
  const route = contract.api?.routes.find((one) => one.operation === operation.name);
  const filtered = route?.filter.find((one) => one.argument === argument)?.path;
  const carried = operation.ingest.carryArgs.find((one) => one.argument === argument)?.field;
  return filtered ?? (carried === undefined ? undefined : [carried]);
};

/**
 * Returns the corresponding fields of the referenced entity, if one relationship covers all the given fields; otherwise
 * null.
 */
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
    return `no value is given for the argument "${unknown?.argument ?? missing[0]}"`;
  }
  const yielded = new Set(others.flatMap(entitiesOf));
  const own = { entity: operation.entity, fields };
  const foreign = referredTo(contract, operation.entity, fields);
  if (foreign !== null && yielded.has(foreign.entity)) return foreign;
  if (yielded.has(own.entity)) return own;
  return `no other operation captures the rows from which "${missing[0]}" could be taken`;
};

/** Returns true if redaction changes the field in captured rows, so that these rows lack the argument's real value. */
const isHidden = ({ redact }: Contract, source: Source | string, argument: string): boolean => {
  if (redact === null || typeof source === 'string') return false;
  const path = source.fields.find((one) => one.argument === argument)?.path;
  return path !== undefined && fieldPolicy(redact, path) !== undefined;
};

/**
 * Plans the arguments of each operation, in the order in which rows become known. An operation whose arguments cannot
 * be found is returned with the reason.
 */
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
    const reason = `its arguments come from ${source?.entity}, whose rows can only be captured with arguments from this operation`;
    skipped.push({ operation: operation.name, reason });
  }
  return { plans, skipped };
};

/** Orders the plans: each comes after the plans that capture the rows of its arguments. */
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

/** Returns the sets of arguments that rows give, without duplicates, at most `most`. */
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
