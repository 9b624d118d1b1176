/**
 * Tests the bodies of creations that were never captured. They are built from an existing row, so that an exact mirror
 * accepts them. Without such a row there is no body.
 */
import { describe, expect, it } from 'vitest';
import { compileTree } from '#language/compile/compile.ts';
import type { Row } from '#language/contract.ts';
import { textFile } from '#language/edit/tree-text.ts';
import { planPlays } from './plan.ts';

const entity = (key: string[], more: object = {}) => ({
  schema: {
    type: 'object',
    additionalProperties: false,
    required: [...key, 'name'],
    properties: {
      ...Object.fromEntries(key.map((name) => [name, { type: 'integer' }])),
      name: { type: 'string' },
      mail: { type: 'string' },
    },
  },
  primary_key: key,
  ...more,
});

const relation = (field: string) => ({ fields: [field], target: 'rows', on_delete: 'restrict' });

const world = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  $id: 'urn:svc:world:x',
  $defs: {},
  'x-svc': {
    version: 1,
    domain_version: '1',
    package: { id: 'x', version: '0.1.0' },
    entities: {
      rows: entity(['id'], { unique: [['mail']] }),
      parts: entity(['row_id', 'number'], { relationships: [relation('row_id')] }),
      links: entity(['one_id', 'other_id'], {
        relationships: [relation('one_id'), relation('other_id')],
      }),
    },
    tools: {},
  },
};

const environment = `[schema]
language = "svc-world/1"
[environment]
name = "X"
kind = "mock-tools"
connector = "custom"
[tools]
serve = []
`;

/** Plans one creation that was never captured, in a world with some rows. */
const planOf = (of: string, api: string, rows: Row[]) => {
  const operation = `[[operations]]\nname = "create"\nmethod = "POST"\npath = "/${of}"\nentity = "${of}"\n[operations.api]\naction = "create"\n${api}\n`;
  const compiled = compileTree([
    textFile('svc-env.toml', environment),
    textFile('schema/world.json', JSON.stringify(world)),
    textFile(
      'connector.toml',
      `[connector]\nslug = "x"\nbase_url = "https://x.example"\n${operation}`,
    ),
  ]);
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.problems));
  const { writes, notPlayed } = planPlays(compiled.contract, new Map(), (name) =>
    name === of ? rows : [],
  );
  return { body: writes[0]?.body, reason: notPlayed[0]?.reason };
};

const mapped = 'body = { name = "name" }\ngenerate = { id = "int" }';
const row = { id: 1, name: 'Ann', mail: 'ann@x.example' };

describe('the body of a creation that was not captured', () => {
  it('is missing if there is no row to build it from', () => {
    expect(planOf('rows', mapped, [])).toEqual({
      body: undefined,
      reason: 'it was not captured, and there is no row of rows to build a body from',
    });
  });

  it('is empty if the route fills all required fields', () => {
    const filled = 'body = { mail = "mail" }\ndefaults = { name = "x" }\ngenerate = { id = "int" }';
    expect(planOf('rows', filled, [])).toEqual({ body: {}, reason: undefined });
  });

  it('has the members that its route maps, with new values for unique fields', () => {
    expect(planOf('rows', mapped, [row]).body).toEqual({ name: 'Ann' });
    const all = 'body = { id = "key.id", name = "name", mail = "mail" }';
    expect(planOf('rows', all, [row]).body).toEqual({
      key: { id: 1_000_001 },
      name: 'Ann',
      mail: 'ann@x.example-conform',
    });
  });

  it('is the whole row without the fields that the route fills, if the route maps nothing', () => {
    expect(planOf('rows', 'generate = { id = "int" }', [row]).body).toEqual({
      name: 'Ann',
      mail: 'ann@x.example-conform',
    });
  });

  it('keeps references; if a key contains nothing but references, no creation is planned', () => {
    const part = { row_id: 1, number: 2, name: 'p' };
    expect(planOf('parts', '', [part]).body).toEqual({ ...part, number: 1_000_002 });
    expect(planOf('links', '', [{ one_id: 1, other_id: 2, name: 'l' }]).reason).toBe(
      'it was not captured, and no other row can have different values of one_id, other_id',
    );
  });
});
