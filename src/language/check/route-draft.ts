/**
 * Intermediate form of an operation between the checks of its parts, with its request parsed and its entity found.
 * `vendor.ts` checks its capture, and `routes.ts` its route.
 */
import type { EntityContract, RouteContract } from '../contract.ts';
import type { ApiTable } from '../files/connector/api.ts';
import {
  type OperationApiTable,
  type OperationTable,
  plainOperationApi,
} from '../files/connector/operations.ts';
import type { Connector } from '../files/connector-toml.ts';
import { languageLimits } from '../limits.ts';
import { pathArguments } from '../path-segments.ts';
import type { Placed } from '../read/kinds.ts';
import type { Place } from '../read/place.ts';
import { suggestName } from '../read/suggest.ts';
import { findEntity, type Model } from './model.ts';
import { readRoutePath } from './route-path.ts';
import type { FieldValues } from './values.ts';

/** World against which all routes are checked. */
export type RouteSources = {
  model: Model;
  values: FieldValues;
  api: ApiTable;
  /** Names of the functions in the handlers module; undefined if there is no such file. */
  handlers: ReadonlySet<string> | undefined;
};

export type OperationDraft = {
  place: Place;
  table: OperationTable;
  entity: EntityContract | undefined;
  segments: RouteContract['segments'];
  params: RouteContract['params'];
  pathArguments: readonly string[];
  /** Names of the operation's path arguments and query parameters. */
  argumentNames: ReadonlySet<string>;
};

/** An operation that the world serves, with its table `[operations.api]`, or the defaults if it has none. */
export type RouteDraft = OperationDraft & { api: OperationApiTable; apiPlace: Place };

/**
 * Refuses a name that is not an argument of the operation. If the operation's path was refused, its arguments are
 * unknown, and no name is refused.
 */
export const refuseUnknownArgument = (
  { place, table, argumentNames }: OperationDraft,
  at: Place,
  name: string,
): void => {
  if (argumentNames.has(name) || place.at('path').isRefused()) return;
  const message = `"${name}" is neither a path argument nor a query parameter of ${table.path}`;
  at.refuse('unknown_argument', message, suggestName(name, argumentNames));
};

/** Actions that write a row with values of the request. */
export const writingActions: readonly OperationApiTable['action'][] = ['create', 'update'];

const readParams = (
  place: Place,
  table: OperationTable,
  inPath: readonly string[],
): RouteContract['params'] => {
  const seen = new Set<string>();
  return table.params.map((written, index) => {
    const name = written.replace(/\[\]$/, '');
    const at = place.at('params', index);
    if (inPath.includes(name)) {
      at.refuse('duplicate', `"${name}" is both a path argument and a query parameter`);
    } else if (seen.has(name)) {
      at.refuse('duplicate', `"${name}" is listed twice: with [] and without`);
    }
    seen.add(name);
    return { name, repeated: name !== written };
  });
};

const readOperation = (
  { place, value: table }: Placed<OperationTable>,
  model: Model,
): OperationDraft => {
  const segments = readRoutePath(place.at('path'), table.path);
  const inPath = pathArguments(segments);
  const params = readParams(place, table, inPath);
  const argumentNames = new Set([...inPath, ...params.map(({ name }) => name)]);
  const { entity: name } = table;
  const entity = name === undefined ? undefined : findEntity(place.at('entity'), name, model);
  return { place, table, entity, segments, params, pathArguments: inPath, argumentNames };
};

const refuseRepeatedNames = (operations: readonly Placed<OperationTable>[]): void => {
  const names = new Set<string>();
  for (const { place, value } of operations) {
    if (value.name !== '' && names.has(value.name)) {
      place.at('name').refuse('duplicate', `there are two operations named "${value.name}"`);
    }
    names.add(value.name);
  }
};

/** Returns all operations of a connector, in the order of the file. */
export const readOperations = (
  { operations, place }: Connector,
  model: Model,
): OperationDraft[] => {
  if (operations.length > languageLimits.operations) {
    const message = `there are ${operations.length} operations, more than ${languageLimits.operations}`;
    place.at('operations').refuse('too_many', message);
    return [];
  }
  refuseRepeatedNames(operations);
  return operations.map((operation) => readOperation(operation, model));
};

/**
 * Returns the operation as a route if the world serves it: if it names an entity, or has a table `[operations.api]`.
 * Returns undefined for any other operation, which only describes a capture.
 */
export const toRouteDraft = (draft: OperationDraft): RouteDraft | undefined => {
  const { table, place } = draft;
  if (table.api === undefined && table.entity === undefined) return undefined;
  return { ...draft, api: table.api ?? plainOperationApi, apiPlace: place.at('api') };
};
