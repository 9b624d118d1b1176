/**
 * The first version of a world, made from what is known of an API. It compiles and serves at once; what could not be
 * told is marked, in the head of connector.toml and for whoever called.
 */
import { stringify } from 'smol-toml';
import type { TreeFile } from '#domain/world.ts';
import { textFile } from '#language/edit/tree-text.ts';
import { type Api, type Mark, snakeCase } from './api.ts';
import { type DraftEntity, findEntities } from './entities.ts';
import { draftOperations, type Table } from './operations.ts';
import { findPaging, type Paging } from './paging.ts';
import { draftRows } from './rows.ts';

export type Draft = {
  files: TreeFile[];
  marks: Mark[];
  entities: { name: string; key: string[]; fields: number; rows: number }[];
  operations: { name: string; route: string; isServed: boolean }[];
};

const slugOf = (title: string): string => snakeCase(title).replaceAll('_', '-').slice(0, 60);

const worldText = (slug: string, entities: readonly DraftEntity[]): string => {
  const shapes = entities.map(({ name, properties, required, key, relationships }) => [
    name,
    {
      schema: { type: 'object', additionalProperties: false, required, properties },
      primary_key: key,
      ...(relationships.length === 0
        ? {}
        : {
            relationships: relationships.map(({ field, target }) => ({
              ...{ fields: [field], target, on_delete: 'restrict' },
            })),
          }),
    },
  ]);
  const world = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: `urn:svc:world:${slug}`,
    $defs: {},
    'x-svc': {
      version: 1,
      domain_version: '1',
      package: { id: slug, version: '0.1.0' },
      entities: Object.fromEntries(shapes),
      tools: {},
    },
  };
  return `${JSON.stringify(world, null, 2)}\n`;
};

const authTable = ({ auth }: Api, slug: string): Table => {
  if (auth.scheme === 'none') return {};
  const prefix = slug.replaceAll('-', '_').toUpperCase();
  return {
    auth: {
      scheme: auth.scheme,
      ...(auth.name === undefined ? {} : { name: auth.name }),
      secret_env: `${prefix}_${auth.scheme === 'oauth2' ? 'CLIENT_SECRET' : 'SECRET'}`,
      ...(auth.scheme === 'oauth2' ? { client_id_env: `${prefix}_CLIENT_ID` } : {}),
      ...(auth.tokenUrl === undefined ? {} : { token_url: auth.tokenUrl }),
    },
  };
};

const captureTable = ({ cursorParam, cursorKey }: Paging): Table =>
  cursorParam === undefined || cursorKey === undefined
    ? {}
    : { capture: { cursor_param: cursorParam, cursor_field: cursorKey } };

const apiTable = (paging: Paging): Table => ({
  api: {
    page: paging.kind,
    hits_key: paging.hitsKey,
    ...(paging.cursorKey === undefined ? {} : { cursor_key: paging.cursorKey }),
    ...(paging.limitParam === undefined ? {} : { limit_param: paging.limitParam }),
    ...(paging.offsetParam === undefined ? {} : { offset_param: paging.offsetParam }),
    ...(paging.cursorParam === undefined ? {} : { cursor_param: paging.cursorParam }),
  },
});

const headOf = (marks: readonly Mark[]): string => {
  if (marks.length === 0) return '# A draft. Nothing was left open, but look it over.\n\n';
  const lines = marks.map(({ place, message }) => `# - ${place}: ${message}`.replace(/\s+/g, ' '));
  return `# A draft. What could not be told, for you to finish:\n${lines.join('\n')}\n\n`;
};

const environmentText = (title: string): string =>
  [
    '[schema]\nlanguage = "svc-world/1"',
    `[environment]\nname = ${JSON.stringify(title.slice(0, 200))}\nkind = "mock-tools"\nconnector = "custom"`,
    '[tools]\nserve = []\n',
  ].join('\n\n');

/** Drafts it. `known` are marks of whoever read the API. */
export const draftWorld = (api: Api, known: readonly Mark[] = []): Draft => {
  const marks = [...known];
  const found = findEntities(api, marks);
  const paging = findPaging(api, found, marks);
  const operations = draftOperations(api, found, paging, marks);
  const slug = slugOf(api.title);
  if (found.entities.length === 0) {
    const message = 'no rows could be told; this entity only holds its place';
    marks.push({ place: 'entity things', message });
    found.entities.push({
      ...{ name: 'things', properties: { id: { type: 'string' } }, required: ['id'], key: ['id'] },
      ...{ relationships: [], unnameable: new Set<string>() },
    });
  }
  for (const entity of found.entities) {
    if (entity.unnameable.size === 0) continue;
    const message = `fields that no field can be named after were left out: ${[...entity.unnameable].join(', ')}`;
    marks.push({ place: `entity ${entity.name}`, message });
  }
  const rows = draftRows(api, found);
  const connector: Table = {
    connector: { slug, base_url: api.baseUrl },
    ...authTable(api, slug),
    ...captureTable(paging),
    ...apiTable(paging),
    operations,
  };
  return {
    files: [
      textFile('svc-env.toml', environmentText(api.title)),
      textFile('schema/world.json', worldText(slug, found.entities)),
      textFile('connector.toml', `${headOf(marks)}${stringify(connector)}\n`),
      ...[...rows].map(([name, list]) =>
        textFile(`data/${name}.json`, `${JSON.stringify(list, null, 2)}\n`),
      ),
    ],
    marks,
    entities: found.entities.map(({ name, key, properties }) => ({
      ...{ name, key, fields: Object.keys(properties).length },
      rows: rows.get(name)?.length ?? 0,
    })),
    operations: operations.map((table) => ({
      name: String(table.name),
      route: `${String(table.method ?? 'GET')} ${String(table.path)}`,
      isServed: table.entity !== undefined,
    })),
  };
};
