/**
 * Plans the requests of a comparison. Captured requests are repeated, page after page, with the arguments of the
 * capture. For operations without captures, requests are built from the contract's samples and from existing rows.
 */
import type { Contract, RouteContract, Row, VendorOperation } from '#language/contract.ts';
import { assignPath, valueAtPath } from '#language/field-path.ts';
import type { Capture } from '#language/files/capture-json.ts';
import { pathArguments } from '#language/path-segments.ts';

/** A page that was captured. */
export type CapturedPage = { file: string; capture: Capture };

/** Requests that belong together: the requests for the pages of a list, or a single request. */
export type Play = {
  operation: VendorOperation;
  route: RouteContract;
  arguments: Row;
  /** Body of the request. */
  body?: unknown;
  /** The vendor's answers; empty if the operation was never captured. */
  pages: CapturedPage[];
};

export type NotPlayed = { operation: string; reason: string };

export type PlayPlan = { reads: Play[]; writes: Play[]; notPlayed: NotPlayed[] };

/** Groups captured pages by their arguments, in order. Each group is one list. */
const groupPages = (captures: readonly CapturedPage[]): CapturedPage[][] => {
  const groups = new Map<string, CapturedPage[]>();
  for (const page of captures) {
    const { arguments: given, request } = page.capture;
    const key = JSON.stringify([Object.entries(given).sort(), request ?? null]);
    groups.set(key, [...(groups.get(key) ?? []), page]);
  }
  return [...groups.values()].map((pages) =>
    pages.sort((a, b) => (a.capture.page ?? 1) - (b.capture.page ?? 1)),
  );
};

/** Returns the rows of an entity in the world. */
export type RowsOf = (entity: string) => readonly Row[];

const rowFor = (route: RouteContract, rowsOf: RowsOf): Row | undefined =>
  route.entity === null ? undefined : rowsOf(route.entity)[0];

/**
 * Returns the arguments of a path, from the route's sample or from a row that the route finds. If there are none,
 * returns the reason as a text.
 */
const argumentsFor = (route: RouteContract, rowsOf: RowsOf): Row | string => {
  const row = rowFor(route, rowsOf);
  const given: Row = { ...route.sample };
  for (const name of pathArguments(route.segments)) {
    if (Object.hasOwn(given, name)) continue;
    const path = route.filter.find(({ argument }) => argument === name)?.path;
    const value = path === undefined || row === undefined ? undefined : valueAtPath(row, path);
    if (value === undefined || value === null) {
      return `it was not captured, and its route has no sample value for "${name}"`;
    }
    given[name] = value;
  }
  return given;
};

const keyMark = '-conform';

/** Returns a value that no other row has, for a key that the client of the API chooses. */
const another = (value: unknown): unknown =>
  typeof value === 'number' ? value + 1_000_000 : `${String(value)}${keyMark}`;

/** Returns the fields whose values a creation sets itself: from its path, from constants, or to new values. */
const filledBy = (route: RouteContract): Set<string> =>
  new Set([
    ...route.generate.map(({ field }) => field),
    ...route.filter.filter(({ match }) => match === 'equals').map(({ path }) => path[0] ?? ''),
  ]);

/**
 * Returns a field of a key or of another unique list of fields. The field is no reference and can take a new value.
 * Returns undefined if the list is unique without a change, and null if none of its fields can change.
 */
const renewedField = (
  fields: readonly string[],
  row: Row,
  references: ReadonlySet<string>,
  filled: ReadonlySet<string>,
  generated: ReadonlySet<string>,
): string | null | undefined => {
  if (fields.some((field) => generated.has(field) || row[field] === undefined)) return undefined;
  const isFree = (field: string): boolean =>
    !references.has(field) &&
    !filled.has(field) &&
    (typeof row[field] === 'string' || typeof row[field] === 'number');
  return fields.find(isFree) ?? null;
};

/**
 * Returns a row that can be created in addition to the existing row that it is built from. If that is impossible,
 * returns the reason as a text.
 */
const newRow = (contract: Contract, route: RouteContract, row: Row): Row | string => {
  const entity = contract.entities.find(({ name }) => name === route.entity);
  const references = new Set(entity?.relationships.flatMap(({ fields }) => fields));
  const generated = new Set(route.generate.map(({ field }) => field));
  const unique = (entity?.unique ?? []).map((paths) => paths.map(([field = '']) => field));
  const made = { ...row };
  for (const fields of [entity?.primaryKey ?? [], ...unique]) {
    const field = renewedField(fields, row, references, filledBy(route), generated);
    if (field === null) {
      return `it was not captured, and no other row can have different values of ${fields.join(', ')}`;
    }
    if (field !== undefined) made[field] = another(row[field]);
  }
  return made;
};

/** Returns the required fields of a row that a creation does not set itself. */
const neededFrom = (contract: Contract, route: RouteContract): string[] => {
  const { required } = contract.entities.find(({ name }) => name === route.entity)?.schema ?? {};
  const filled = filledBy(route);
  return (Array.isArray(required) ? required.map(String) : []).filter(
    (field) => !filled.has(field) && !Object.hasOwn(route.defaults, field),
  );
};

/**
 * Returns a body for a route that writes rows, built from an existing row. If that is impossible, returns the reason as
 * a text.
 */
const bodyFor = (contract: Contract, route: RouteContract, rowsOf: RowsOf): Row | string => {
  const found = rowFor(route, rowsOf);
  const isNew = route.action === 'create';
  if (isNew && found === undefined && neededFrom(contract, route).length > 0) {
    return `it was not captured, and there is no row of ${route.entity} to build a body from`;
  }
  const row = isNew && found !== undefined ? newRow(contract, route, found) : (found ?? {});
  if (typeof row === 'string') return row;
  const body: Row = {};
  for (const { field, from } of route.body) {
    const value = valueAtPath(row, field);
    if (value !== undefined) assignPath(body, from, value);
  }
  if (route.body.length > 0) return body;
  // A route that maps no field takes the whole body as the row.
  const filled = filledBy(route);
  return isNew
    ? Object.fromEntries(Object.entries(row).filter(([field]) => !filled.has(field)))
    : body;
};

const fromContract = (
  contract: Contract,
  operation: VendorOperation,
  route: RouteContract,
  rowsOf: RowsOf,
): Play | string => {
  const given = argumentsFor(route, rowsOf);
  if (typeof given === 'string') return given;
  const play: Play = { operation, route, arguments: given, pages: [] };
  if (route.method === 'GET' || route.action === 'delete') return play;
  if (route.action === 'handler') {
    return 'it was not captured, and only a capture could show which body its handler expects';
  }
  const body = bodyFor(contract, route, rowsOf);
  return typeof body === 'string' ? body : { ...play, body };
};

const actionOrder = ['create', 'handler', 'read', 'update', 'delete'];

/** Plans all requests. `captures` are the captured pages by operation. */
export const planPlays = (
  contract: Contract,
  captures: ReadonlyMap<string, readonly CapturedPage[]>,
  rowsOf: RowsOf,
): PlayPlan => {
  const routes = new Map((contract.api?.routes ?? []).map((route) => [route.operation, route]));
  const plan: PlayPlan = { reads: [], writes: [], notPlayed: [] };
  const writes: Play[] = [];
  for (const operation of contract.vendor?.operations ?? []) {
    const { name } = operation;
    const route = routes.get(name);
    if (route === undefined) {
      plan.notPlayed.push({ operation: name, reason: 'the world does not serve this operation' });
      continue;
    }
    const plays = groupPages(captures.get(name) ?? []).flatMap((pages): Play[] => {
      const [first] = pages;
      if (first === undefined || (first.capture.page ?? 1) !== 1) return [];
      const { arguments: given, request } = first.capture;
      const missing = pathArguments(route.segments).find(
        (argument) => !Object.hasOwn(given, argument),
      );
      if (missing !== undefined) return [];
      const body = request === undefined ? {} : { body: request };
      return [{ operation, route, arguments: given, pages, ...body }];
    });
    if (plays.length === 0) {
      const play = fromContract(contract, operation, route, rowsOf);
      if (typeof play === 'string') plan.notPlayed.push({ operation: name, reason: play });
      else plays.push(play);
    }
    (route.method === 'GET' ? plan.reads : writes).push(...plays);
  }
  const order = ({ route }: Play): number => actionOrder.indexOf(route.action);
  plan.writes = writes.sort((a, b) => order(a) - order(b));
  return plan;
};
