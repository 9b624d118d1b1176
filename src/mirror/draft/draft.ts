/**
 * Drafts the first version of a world from what is known of an API. The draft compiles and can be served at once.
 * Points that remain open are marked, at the beginning of connector.toml and in the result.
 */
import { stringify } from 'smol-toml';
import type { TreeFile } from '#domain/world.ts';
import { textFile } from '#language/edit/tree-text.ts';
import type { Problem } from '#language/problem.ts';
import { type Api, type Mark, snakeCase } from './api.ts';
import { type DraftEntity, findEntities } from './entities.ts';
import { draftOperations, type Table } from './operations.ts';
import { findPaging, type Paging } from './paging.ts';
import { draftRows } from './rows.ts';
import { type DraftParts, settleDraft } from './settle.ts';

export type Draft = {
  /** Files of the world, including those that compiling writes. */
  files: TreeFile[];
  /** Problems because of which the draft does not compile; almost always empty. */
  problems: Problem[];
  marks: Mark[];
  entities: { name: string; key: string[]; fields: number; rows: number }[];
  operations: { name: string; route: string; isServed: boolean }[];
};

const slugOf = (title: string): string =>
  /[a-z0-9]/i.test(title)
    ? snakeCase(title).replaceAll('_', '-').slice(0, 60).replace(/-+$/, '')
    : 'api';

/** Returns a text on one line, without characters that TOML refuses or that control a terminal. */
const oneLine = (text: string): string =>
  text
    .toWellFormed()
    .replace(/\s+/g, ' ')
    .replace(/[\p{Cc}\p{Cf}]/gu, '\u{fffd}')
    .trim();

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
  if (marks.length === 0) return '# A draft. No point was left open, but review it before use.\n\n';
  const lines = marks.map(({ place, message }) => `# - ${place}: ${message}`);
  return `# A draft. These points could not be determined; complete them:\n${lines.join('\n')}\n\n`;
};

const environmentText = (title: string): string =>
  [
    '[schema]\nlanguage = "svc-world/1"',
    `[environment]\nname = ${JSON.stringify(title.slice(0, 200))}\nkind = "mock-tools"\nconnector = "custom"`,
    '[tools]\nserve = []\n',
  ].join('\n\n');

const writeParts = (parts: DraftParts): TreeFile[] => {
  const { title, slug, baseUrl, tables, entities, operations, rows, marks } = parts;
  const connector: Table = { connector: { slug, base_url: baseUrl }, ...tables, operations };
  return [
    textFile('svc-env.toml', environmentText(title)),
    textFile('schema/world.json', worldText(slug, entities)),
    textFile('connector.toml', `${headOf(marks)}${stringify(connector)}\n`),
    ...[...rows].map(([name, list]) =>
      textFile(`data/${name}.json`, `${JSON.stringify(list, null, 2)}\n`),
    ),
  ];
};

/** Returns a placeholder entity for an API whose answers hold no rows. */
const placeholder = (): DraftEntity => ({
  ...{ name: 'things', properties: { id: { type: 'string' } }, required: ['id'], key: ['id'] },
  ...{ relationships: [], unnameable: new Set<string>() },
});

/** Builds the parts of a draft from the API, before the compiler has checked them. */
const draftParts = (api: Api, known: readonly Mark[]): DraftParts => {
  const marks = [...known];
  const found = findEntities(api, marks);
  const paging = findPaging(api, found, marks);
  const operations = draftOperations(api, found, paging, marks);
  const title = oneLine(api.title);
  const slug = slugOf(title);
  if (found.entities.length === 0) {
    const message = 'no rows were found; this entity is only a placeholder';
    marks.push({ place: 'entity things', message });
    found.entities.push(placeholder());
  }
  for (const entity of found.entities) {
    if (entity.unnameable.size === 0) continue;
    const names = [...entity.unnameable].map((name) => (name === '' ? '""' : name));
    const message = `left out fields whose names the world language does not allow: ${names.join(', ')}`;
    marks.push({ place: `entity ${entity.name}`, message });
  }
  const rows = draftRows(api, found, marks);
  const tables = { ...authTable(api, slug), ...captureTable(paging), ...apiTable(paging) };
  const { entities } = found;
  return { title, slug, baseUrl: api.baseUrl, tables, entities, operations, rows, marks };
};

/** Drafts a world. `known` contains marks by the caller, who read the API. */
export const draftWorld = (api: Api, known: readonly Mark[] = []): Draft => {
  const parts = draftParts(api, known);
  const { files, problems } = settleDraft(parts, (of) => {
    if (of.entities.length === 0) of.entities.push(placeholder());
    of.marks = of.marks.map(({ place, message }) => ({
      place: oneLine(place),
      message: oneLine(message),
    }));
    return writeParts(of);
  });
  const { entities, operations, rows, marks } = parts;
  return {
    files,
    problems,
    marks,
    entities: entities.map(({ name, key, properties }) => ({
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
