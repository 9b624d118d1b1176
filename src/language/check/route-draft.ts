/** An operation on its way to a route, as the checks of its parts pass it on. */
import type { EntityContract } from '../contract.ts';
import type { ApiTable, OperationApiTable, OperationTable } from '../files/connector-toml.ts';
import type { Place } from '../read/place.ts';
import type { Model } from './model.ts';
import type { FieldValues } from './values.ts';

/** What all routes of a world are checked against. */
export type RouteSources = {
  model: Model;
  values: FieldValues;
  api: ApiTable;
  /** Functions of the handlers module; undefined when there is no such file. */
  handlers: ReadonlySet<string> | undefined;
};

export type RouteDraft = {
  place: Place;
  table: OperationTable;
  /** `[operations.api]`, or its defaults, and where it stands. */
  api: OperationApiTable;
  apiPlace: Place;
  entity: EntityContract | undefined;
  /** Path arguments and query parameters. */
  argumentNames: ReadonlySet<string>;
};

/** Actions that write a row out of the request. */
export const writingActions: readonly OperationApiTable['action'][] = ['create', 'update'];
