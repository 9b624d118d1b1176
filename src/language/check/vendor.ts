/**
 * Checks the vendor behind a world: its address and credentials, its captures, and the conversion of its answers into
 * rows of the data model. This module checks nothing that is served; `routes.ts` checks the same operations as routes.
 */
import type { Explode, FieldPath, Ingest, VendorContract, VendorOperation } from '../contract.ts';
import { parseFieldPath } from '../field-path.ts';
import type { ExplodeTable } from '../files/connector/operations.ts';
import type { AuthTable, CaptureTable } from '../files/connector/vendor.ts';
import type { Connector } from '../files/connector-toml.ts';
import type { Placed } from '../read/kinds.ts';
import type { Place } from '../read/place.ts';
import { findEntity, type Model } from './model.ts';
import { type OperationDraft, refuseUnknownArgument } from './route-draft.ts';
import { findDirectField } from './route-fields.ts';

/**
 * Parses a path into a vendor's answer, which no schema describes. If `mayBeEmpty` is true, '' is accepted; it means
 * the whole answer and gives `[]`.
 */
const readPath = (place: Place, written: string, mayBeEmpty: boolean): FieldPath => {
  if (written === '' && mayBeEmpty) return [];
  const path = parseFieldPath(written);
  if (path !== undefined) return path;
  const message = `${JSON.stringify(written.slice(0, 200))} is not a path of fields`;
  place.refuse('bad_value', message, 'write a.b.c or /a/b/c');
  return [];
};

type Sources = { field: string; from: FieldPath }[];

/** Returns pairs: a field of an entity's rows, and the path from which its value is taken. */
const readSources = (
  place: Place,
  written: ReadonlyMap<string, string>,
  entity: ReturnType<typeof findEntity>,
  model: Model,
  mayBeEmpty: boolean,
): Sources =>
  [...written].map(([field, from]) => {
    if (entity !== undefined) findDirectField(place.at(field), field, entity, model);
    return { field, from: readPath(place.at(field), from, mayBeEmpty) };
  });

const readExplode = ({ place, value }: Placed<ExplodeTable>, model: Model): Explode => {
  const entity = findEntity(place.at('entity'), value.entity, model);
  const { carry, take } = value;
  for (const field of take?.keys() ?? []) {
    if (!carry.has(field)) continue;
    const message = `"${field}" is set both by "carry" from the row and by "take" from the item`;
    place.at('carry', field).ofKey().refuse('duplicate', message);
  }
  return {
    field: readPath(place.at('field'), value.field, false),
    entity: value.entity,
    carry: readSources(place.at('carry'), carry, entity, model, false),
    take: take === undefined ? null : readSources(place.at('take'), take, entity, model, true),
  };
};

/** Refuses to drop a field that every row of the entity must have. */
const checkDrop = ({ place, entity }: OperationDraft, drop: readonly string[]): void => {
  const needed = Array.isArray(entity?.schema.required) ? entity.schema.required : [];
  for (const [index, field] of drop.entries()) {
    if (!needed.includes(field)) continue;
    const message = `every row of ${entity?.name} has "${field}", so it cannot be dropped`;
    place.at('ingest', 'drop', index).refuse('bad_ingest', message);
  }
};

const readCarriedArguments = (
  draft: OperationDraft,
  written: ReadonlyMap<string, string>,
  model: Model,
): Ingest['carryArgs'] =>
  [...written].map(([field, argument]) => {
    const at = draft.place.at('ingest', 'carry_args', field);
    if (draft.entity !== undefined) findDirectField(at, field, draft.entity, model);
    refuseUnknownArgument(draft, at, argument);
    return { field, argument };
  });

/** Refuses to explode the same list of a row twice. */
const refuseExplodeTwins = (explode: readonly Placed<ExplodeTable>[]): void => {
  const fields = new Set<string>();
  for (const { place, value } of explode) {
    const field = JSON.stringify(parseFieldPath(value.field));
    if (fields.has(field)) {
      const message = `"${value.field}" is already taken out of the row by another table`;
      place.at('field').refuse('bad_ingest', message);
    }
    fields.add(field);
  }
};

const readIngest = (draft: OperationDraft, model: Model): Ingest => {
  const { place, table } = draft;
  if (table.ingest === undefined) return { drop: [], carryArgs: [], explode: [] };
  const { drop, carry_args: carried, explode } = table.ingest.value;
  if (table.entity === undefined && drop.length + carried.size + explode.length > 0) {
    const message = `the operation "${table.name}" has ingest rules, but no entity`;
    place.at('entity').refuse('missing_key', message, 'add the key "entity"');
  }
  checkDrop(draft, drop);
  refuseExplodeTwins(explode);
  return {
    drop,
    carryArgs: readCarriedArguments(draft, carried, model),
    explode: explode.map((each) => readExplode(each, model)),
  };
};

const toOperation = (draft: OperationDraft, model: Model): VendorOperation => {
  const { place, table, segments, params } = draft;
  return {
    name: table.name,
    method: table.method,
    path: table.path,
    segments,
    params,
    entity: draft.entity?.name ?? null,
    results: readPath(place.at('results'), table.results, true),
    ingest: readIngest(draft, model),
  };
};

const readCapture = (place: Place, table: CaptureTable): VendorContract['capture'] => {
  const { cursor_param: param, cursor_field: field, cursor_header: header } = table;
  if (field !== undefined && header !== undefined) {
    const message =
      'cursor_field and cursor_header exclude each other: the next cursor is in one of them';
    place.at('cursor_header').refuse('unexpected_key', message, 'leave one of them out');
  }
  if (param !== undefined && field === undefined && header === undefined) {
    const message = 'cursor_param requires cursor_field or cursor_header, which give the cursor';
    place.at('cursor_param').refuse('missing_key', message);
  }
  if (param === undefined && (field ?? header) !== undefined) {
    const key = field === undefined ? 'cursor_header' : 'cursor_field';
    place
      .at(key)
      .refuse('missing_key', `${key} requires cursor_param, the request parameter for the cursor`);
  }
  const from =
    header === undefined
      ? { field: readPath(place.at('cursor_field'), field ?? '', field === undefined) }
      : { header };
  return {
    requestsPerMinute: table.requests_per_minute,
    timeoutSeconds: table.timeout_seconds,
    maxPages: table.max_pages,
    cursor: param === undefined ? null : { param, from },
  };
};

const readAuth = (auth: AuthTable | undefined, baseUrl: string): VendorContract['auth'] => {
  const tokenUrl = auth?.scheme === 'oauth2' ? (auth.token_url ?? '/oauth/token') : null;
  return {
    scheme: auth?.scheme ?? 'none',
    name: auth?.name ?? null,
    secretEnv: auth?.secret_env ?? null,
    headers: Object.fromEntries(auth?.headers ?? []),
    tokenUrl: tokenUrl?.startsWith('/') ? `${baseUrl}${tokenUrl}` : tokenUrl,
    clientIdEnv: auth?.client_id_env ?? null,
    scope: auth?.scope ?? null,
  };
};

/** Returns the vendor of a connector. The connector's operations must have been read before. */
export const checkVendor = (
  { connector, auth, capture, place }: Connector,
  operations: readonly OperationDraft[],
  model: Model,
): VendorContract => {
  const baseUrl = connector.base_url.replace(/\/+$/, '');
  return {
    slug: connector.slug,
    baseUrl,
    auth: readAuth(auth?.value, baseUrl),
    capture: readCapture(place.at('capture'), capture),
    operations: operations.map((draft) => toOperation(draft, model)),
  };
};
