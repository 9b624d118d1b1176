import { readdirSync, readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { parse } from 'smol-toml';
import { describe, expect, it } from 'vitest';
import { smallWorld } from '#test/support/worlds/small-world.ts';
import { fileSchema, type SchemaFile, schemaFiles } from './file-schemas.ts';

const validatorOf = (file: SchemaFile) =>
  new Ajv2020({ strict: true, strictTypes: false, strictRequired: false }).compile(
    fileSchema(file),
  );

const world = smallWorld();
const textOf = (file: string): string => world.text[file] ?? '';
const scenarioFile = 'scenarios/finish/scenario.toml';

/** Files of the small world; together they use every table. */
const documents: Record<SchemaFile, () => unknown> = {
  'schema/world.json': () => world.json['schema/world.json'],
  'svc-env.toml': () => parse(textOf('svc-env.toml')),
  'connector.toml': () => parse(textOf('connector.toml')),
  'scenario.toml': () => parse(textOf(scenarioFile)),
  'tasks.json': () => JSON.parse(textOf('tasks.json')),
};

/** Returns every object schema that has known keys, by its path. */
const tablesIn = (schema: unknown, path = ''): [string, Record<string, unknown>][] => {
  if (typeof schema !== 'object' || schema === null) return [];
  const { properties } = schema as { properties?: Record<string, unknown> };
  const inner = Object.entries(schema).flatMap(([key, part]) => tablesIn(part, `${path}/${key}`));
  return properties === undefined ? inner : [[path, properties], ...inner];
};

describe('fileSchema', () => {
  it.each(schemaFiles)('accepts a %s that compiles', (file) => {
    const validate = validatorOf(file);
    validate(documents[file]());
    expect(validate.errors).toBeNull();
  });

  it.each(schemaFiles)('describes every key of %s', (file) => {
    const tables = tablesIn(fileSchema(file));
    expect(tables.length).toBeGreaterThan(0);
    const silent = tables.flatMap(([path, properties]) =>
      Object.entries(properties)
        .filter(([, key]) => typeof (key as { description?: unknown }).description !== 'string')
        .map(([name]) => `${path}/${name}`),
    );
    expect(silent).toEqual([]);
  });

  it('accepts the files of every template', () => {
    const templates = new URL('../../templates/', import.meta.url);
    for (const slug of readdirSync(templates)) {
      for (const file of ['svc-env.toml', 'connector.toml'] as const) {
        const validate = validatorOf(file);
        validate(parse(readFileSync(new URL(`${slug}/${file}`, templates), 'utf8')));
        expect([slug, file, validate.errors]).toEqual([slug, file, null]);
      }
    }
  });

  // biome-ignore lint/suspicious/noExplicitAny: tests reach into the document to break it
  it.each<[SchemaFile, (document: any) => void]>([
    ['schema/world.json', (document) => (document['x-svc'].version = 2)],
    ['schema/world.json', (document) => (document['x-svc'].entities.lists.primary_key = [])],
    ['svc-env.toml', (document) => (document.environment.knd = 'mock-tools')],
    ['svc-env.toml', (document) => (document.db.path = 'x.db')],
    ['svc-env.toml', (document) => delete document.environment],
    ['connector.toml', (document) => (document.api.not_found_status = 200)],
    ['connector.toml', (document) => (document.operations[0].name = 'Get-Card')],
    ['connector.toml', (document) => (document.webhooks.signing = 'sha1')],
    ['scenario.toml', (document) => (document.grader.checks = [])],
    ['tasks.json', (document) => delete document.tasks[0].verifier],
  ])('refuses a mistake in %s', (file, change) => {
    const document = structuredClone(documents[file]());
    change(document);
    expect(validatorOf(file)(document)).toBe(false);
  });
});
