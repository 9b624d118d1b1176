/** Drafts the operations: each route of the API becomes a table of connector.toml. */
import type { JsonSchema, Row } from '#language/contract.ts';
import { type Api, type ApiRoute, type Mark, singular, snakeCase } from './api.ts';
import {
  type DraftEntity,
  type FoundEntities,
  isKeyType,
  leadsToOne,
  type RowsAt,
  segmentsOf,
  subjectOf,
  typesOf,
} from './entities.ts';
import { isPagingParam, type Paging } from './paging.ts';

/** A table of connector.toml. */
export type Table = Record<string, unknown>;

const argumentsIn = (path: string): string[] =>
  [...path.matchAll(/\{([^}.]+)(?:\.\.\.)?\}/g)].map(([, name = '']) => name);

const scalarField = (entity: DraftEntity, word: string): string | undefined =>
  Object.keys(entity.properties).find(
    (name) => snakeCase(name) === snakeCase(word) && isKeyType(entity.properties[name]),
  );

/** Returns the word of a path before an argument: `boards` in `/boards/{board}/cards`. */
const wordBefore = (path: string, argument: string): string => {
  const segments = segmentsOf(path);
  const at = segments.findIndex((segment) => segment.includes(`{${argument}`));
  return segments.slice(0, at).findLast((segment) => !segment.includes('{')) ?? '';
};

type Filter = { field: string; isCarried: boolean };

/** Returns the field for an argument of a path that precedes the last one. Adds a field if the rows have none. */
const parentField = (
  { path, pathParams }: ApiRoute,
  argument: string,
  entity: DraftEntity,
  entities: readonly DraftEntity[],
): Filter => {
  const word = snakeCase(wordBefore(path, argument));
  const one = singular(word);
  const parent = entities.find(
    ({ name, key }) => name === word && key.length === 1 && name !== entity.name,
  );
  const known = [argument, `${one}_id`, `${one}_key`, one].find((name) => {
    const field = scalarField(entity, name);
    if (field === undefined || entity.key.includes(field)) return false;
    // A field with a list of values (such as a "type") holds no keys of other rows.
    return parent === undefined || entity.properties[field]?.enum === undefined;
  });
  const parentKey = parent?.properties[parent.key[0] ?? ''];
  const relate = (field: string): void => {
    const fits = typesOf(entity.properties[field]).join() === typesOf(parentKey).join();
    if (parent === undefined || !fits || entity.relationships.some((of) => of.field === field))
      return;
    entity.relationships.push({ field, target: parent.name });
  };
  if (known !== undefined) {
    const field = scalarField(entity, known) ?? known;
    relate(field);
    return { field, isCarried: false };
  }
  const isSame = snakeCase(argument) === 'id' || snakeCase(argument) === one;
  const field = isSame && one !== '' ? `${one}_id` : snakeCase(argument);
  const given = pathParams.find(({ name }) => name === argument)?.schema;
  const type = typesOf(parentKey)[0] ?? (typesOf(given)[0] === 'integer' ? 'integer' : 'string');
  entity.properties[field] ??= { type };
  relate(field);
  return { field, isCarried: true };
};

const pathFilters = (route: ApiRoute, entity: DraftEntity, entities: readonly DraftEntity[]) => {
  const names = argumentsIn(route.path);
  return names.map((argument, index) => {
    const isItem = index === names.length - 1 && leadsToOne(route.path);
    if (isItem) return { argument, field: entity.key[0] ?? 'id', isCarried: false };
    return { argument, ...parentField(route, argument, entity, entities) };
  });
};

const samplesOf = (route: ApiRoute): Row =>
  Object.fromEntries(
    [...route.pathParams, ...route.params.filter(({ name }) => !isPagingParam(name))].flatMap(
      ({ name, sample, repeated }): [string, unknown][] =>
        sample === undefined || sample === null || repeated || typeof sample === 'object'
          ? []
          : [[name, sample]],
    ),
  );

const paramsOf = ({ params, pathParams }: ApiRoute): string[] =>
  params
    .filter(({ name }) => !isPagingParam(name) && !pathParams.some((path) => path.name === name))
    .filter(({ name }) => /^(?!\[\]$)[^\s&=#?]{1,200}$/.test(name))
    .map(({ name, repeated }) => (repeated ? `${name}[]` : name));

const bare = (route: ApiRoute): Table => {
  const params = paramsOf(route);
  return {
    name: route.name,
    ...(route.method === 'GET' ? {} : { method: route.method }),
    path: route.path,
    ...(params.length === 0 ? {} : { params }),
  };
};

const readTable = (
  route: ApiRoute,
  entity: DraftEntity,
  rows: RowsAt,
  { entities, paging }: { entities: readonly DraftEntity[]; paging: Paging },
): Table => {
  const filters = pathFilters(route, entity, entities);
  const queries = paramsOf(route).flatMap((written) => {
    const argument = written.replace(/\[\]$/, '');
    const field = scalarField(entity, argument);
    return field === undefined ? [] : [{ argument, field, isCarried: false }];
  });
  const carried = filters.filter(({ isCarried }) => isCarried);
  const filter = Object.fromEntries(
    [...filters, ...queries].map((one) => [one.argument, one.field]),
  );
  const sample = samplesOf(route);
  const isPaged = rows.isList && (rows.under !== '' || paging.kind === 'offset');
  const dropped = [...entity.unnameable].filter((name) => name !== '');
  const ingest = {
    ...(dropped.length === 0 ? {} : { drop: dropped }),
    ...(carried.length === 0
      ? {}
      : { carry_args: Object.fromEntries(carried.map((one) => [one.field, one.argument])) }),
  };
  return {
    ...bare(route),
    entity: entity.name,
    ...(rows.under === '' ? {} : { results: rows.under }),
    ...(Object.keys(ingest).length === 0 ? {} : { ingest }),
    api: {
      ...(Object.keys(filter).length === 0 ? {} : { filter }),
      ...(rows.under === '' ? {} : { envelope: rows.under }),
      ...(rows.isList ? {} : { single: true }),
      ...(isPaged || paging.kind === 'none' ? {} : { page: 'none' }),
      ...(Object.keys(sample).length === 0 ? {} : { sample }),
    },
  };
};

/** Returns the entity that a route writes, which follows from its path. */
const writtenEntity = (
  route: ApiRoute,
  { entities, byRoute }: FoundEntities,
  routes: readonly ApiRoute[],
) => {
  const reading = routes.find(({ path, name }) => path === route.path && byRoute.has(name));
  const found = reading === undefined ? undefined : byRoute.get(reading.name);
  return (
    found ?? {
      entity: entities.find(({ name }) => name === subjectOf(route.path)),
      rows: undefined,
    }
  );
};

const bodyOf = ({ request }: ApiRoute, entity: DraftEntity): { body: Table; under: string } => {
  const properties = Object.entries((request?.properties ?? {}) as Record<string, JsonSchema>);
  const [only] = properties;
  const inner = (only?.[1].properties ?? undefined) as Record<string, JsonSchema> | undefined;
  const isWrapped =
    properties.length === 1 &&
    inner !== undefined &&
    !Object.hasOwn(entity.properties, only?.[0] ?? '');
  const fields = Object.keys(isWrapped ? inner : Object.fromEntries(properties));
  const under = isWrapped ? `${only?.[0]}.` : '';
  const known = fields.filter((name) => Object.hasOwn(entity.properties, name));
  return { body: Object.fromEntries(known.map((name) => [name, `${under}${name}`])), under };
};

const isTime = (name: string): boolean =>
  /^(?:created|updated|modified)(?:_?(?:at|on|date|time))?$/i.test(snakeCase(name));

const generated = (
  entity: DraftEntity,
  body: Table,
  isNew: boolean,
  filled: ReadonlySet<string>,
): Table =>
  Object.fromEntries(
    Object.entries(entity.properties).flatMap(([name, schema]): [string, string][] => {
      if (Object.hasOwn(body, name) || filled.has(name)) return [];
      if (isNew && entity.key.includes(name)) {
        return [[name, typesOf(schema)[0] === 'integer' ? 'int' : 'uuid']];
      }
      const isText = typesOf(schema).join() === 'string';
      return isText && isTime(name) && (isNew || !/^created/i.test(name)) ? [[name, 'now']] : [];
    }),
  );

const writeTable = (
  route: ApiRoute,
  found: FoundEntities,
  routes: readonly ApiRoute[],
  rest: { entities: readonly DraftEntity[] },
): Table | undefined => {
  const { entity } = writtenEntity(route, found, routes);
  const isItem = leadsToOne(route.path);
  const action =
    route.method === 'POST' ? 'create' : route.method === 'DELETE' ? 'delete' : 'update';
  const fits =
    entity !== undefined &&
    isItem === (action !== 'create') &&
    subjectOf(route.path) === entity.name;
  if (!fits || entity === undefined) return undefined;
  const filters = pathFilters(route, entity, rest.entities);
  const filter = Object.fromEntries(filters.map(({ argument, field }) => [argument, field]));
  const { body } = action === 'delete' ? { body: {} } : bodyOf(route, entity);
  const filled = new Set(filters.map(({ field }) => field));
  const generate = action === 'delete' ? {} : generated(entity, body, action === 'create', filled);
  if (action === 'create') {
    const known = new Set([...Object.keys(body), ...Object.keys(generate), ...filled]);
    entity.required = entity.required.filter(
      (name) => known.has(name) || entity.key.includes(name),
    );
  }
  const usual = action === 'create' ? 201 : action === 'delete' ? 204 : 200;
  const wrapper = action === 'delete' ? undefined : Object.keys(route.answer?.properties ?? {})[0];
  const isWrapped =
    wrapper !== undefined &&
    !Object.hasOwn(entity.properties, wrapper) &&
    snakeCase(wrapper) === singular(entity.name);
  return {
    ...bare(route),
    entity: entity.name,
    ...(isWrapped ? { results: wrapper } : {}),
    api: {
      action,
      ...(Object.keys(filter).length === 0 ? {} : { filter }),
      ...(Object.keys(body).length === 0 ? {} : { body }),
      ...(Object.keys(generate).length === 0 ? {} : { generate }),
      ...(isWrapped ? { envelope: wrapper } : action === 'delete' ? {} : { envelope: '' }),
      ...(route.status === usual ? {} : { status: route.status }),
    },
  };
};

/** Drafts all operations. An operation that cannot be served is included for captures only, and marked. */
export const draftOperations = (
  { routes }: Api,
  found: FoundEntities,
  paging: Paging,
  marks: Mark[],
): Table[] => {
  const rest = { entities: found.entities, paging };
  return routes.map((route) => {
    const place = `operation ${route.name}`;
    const read = found.byRoute.get(route.name);
    if (read !== undefined) {
      const beside = Object.keys((route.answer?.properties ?? {}) as object).filter(
        (name) => name !== read.rows.under && name !== paging.cursorKey && name !== paging.hitsKey,
      );
      if (read.rows.under !== '' && beside.length > 0) {
        const message = `its answers also contain ${beside.slice(0, 8).join(', ')}, which the world's answers lack`;
        marks.push({ place, message });
      }
      return readTable(route, read.entity, read.rows, rest);
    }
    const written = route.method === 'GET' ? undefined : writeTable(route, found, routes, rest);
    if (written !== undefined) return written;
    const message =
      route.method === 'GET'
        ? 'no rows could be identified in its answer, so it is captured but not served'
        : 'it needs a handler, so it is not served';
    marks.push({ place, message });
    return bare(route);
  });
};
