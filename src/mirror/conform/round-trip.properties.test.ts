/**
 * Tests the round trip from a vendor's answers to a world's, for any rows and any redaction. After capture, extraction
 * and compilation, the world serves what was captured, row for row.
 */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, inject, it } from 'vitest';
import type { TreeFile } from '#domain/world.ts';
import { redactRow } from '#language/capture/redact.ts';
import { compileTree } from '#language/compile/compile.ts';
import type { Contract, Row, VendorContract } from '#language/contract.ts';
import { textFile } from '#language/edit/tree-text.ts';
import { readTree } from '#runtime/tree.ts';
import { testContext } from '#test/support/cli/context.ts';
import { serveWorld } from '#test/support/host/serve-world.ts';
import { runCommandLine } from '../../cli/program.ts';
import { captureVendor } from '../capture/capture.ts';
import { createSecrets } from '../redact/secrets.ts';

const home = mkdtempSync(join(tmpdir(), 'svc-round-trip-'));
afterAll(() => rmSync(home, { recursive: true, force: true }));

/** Kinds of a vendor's fields, with their schemas in the data model. */
const kinds = {
  text: { schema: { type: 'string' }, isText: true },
  textOrNull: { schema: { type: ['string', 'null'] }, isText: true },
  texts: { schema: { type: 'array', items: { type: 'string' } }, isText: true },
  integer: { schema: { type: 'integer' }, isText: false },
  number: { schema: { type: ['number', 'null'] }, isText: false },
  flag: { schema: { type: 'boolean' }, isText: false },
  anything: { schema: {}, isText: false },
  // Its contents are redacted by the names of its own members.
  person: { schema: { type: 'object' }, isText: false },
} as const;
type Kind = keyof typeof kinds;

const word = fc.oneof(
  { weight: 3, arbitrary: fc.stringMatching(/^[A-Za-z0-9 .@#-]{0,12}$/) },
  { weight: 1, arbitrary: fc.string({ unit: 'grapheme', maxLength: 8 }) },
);
/**
 * Generates texts without slashes, since addresses are redacted by their contents. A separate field tests texts with
 * slashes.
 */
const text = word.map((value) => value.replaceAll('/', '-').replaceAll('\0', ''));
const number = fc.oneof(
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e9, max: 1e9 }),
);

const valuesOf: Record<Kind, fc.Arbitrary<unknown>> = {
  text,
  textOrNull: fc.option(text),
  texts: fc.array(text, { maxLength: 3 }),
  integer: fc.integer(),
  number: fc.option(number),
  flag: fc.boolean(),
  anything: fc.oneof(
    text,
    number,
    fc.constant(null),
    fc.array(fc.oneof(text, number), { maxLength: 2 }),
  ),
  person: fc.record(
    { mail: text, phones: fc.array(text, { maxLength: 2 }), height: number },
    { requiredKeys: [] },
  ),
};

type Field = { name: string; kind: Kind; isRequired: boolean; policy: string };

const policies = ['none', 'none', 'hash', 'drop', 'preserve'] as const;

const fields: fc.Arbitrary<Field[]> = fc
  .array(
    fc.record({
      kind: fc.constantFrom(...(Object.keys(kinds) as Kind[])),
      isRequired: fc.boolean(),
      policy: fc.constantFrom(...policies),
    }),
    { minLength: 1, maxLength: 6 },
  )
  .map((list) =>
    list.map((field, index) => ({
      ...field,
      name: `${field.kind}_${index}`,
      policy:
        kinds[field.kind].isText || field.policy === 'drop'
          ? field.policy
          : ({ none: 'none' }[field.policy as 'none'] ??
            (field.kind === 'number' ? 'round' : 'none')),
    })),
  );

/** Generates redaction rules for some members of people. The policy matches such members by name at any depth. */
const ofPeople = fc.subarray(['hash = mail', 'preserve = person.phones', 'round = height']);

type Vendor = {
  fields: Field[];
  ofPeople: string[];
  hasTextKeys: boolean;
  /** True if the vendor's rows do not contain their group, so that it has to be taken from the request. */
  isCarried: boolean;
  isKeyHashed: boolean;
  pageSize: number;
  groups: Row[];
  things: Row[];
};

const vendors: fc.Arbitrary<Vendor> = fields.chain((list) => {
  const row = fc.record(Object.fromEntries(list.map(({ name, kind }) => [name, valuesOf[kind]])), {
    requiredKeys: list.filter(({ isRequired }) => isRequired).map(({ name }) => name),
  });
  const parts = fc.uniqueArray(fc.tuple(fc.constantFrom('a', 'b', 'c', 'd'), text), {
    maxLength: 3,
    selector: ([name]) => name,
  });
  const thing = fc.record({ row, parts, group: fc.nat({ max: 2 }), noise: text });
  return fc
    .record({
      ofPeople,
      hasTextKeys: fc.boolean(),
      isCarried: fc.boolean(),
      isKeyHashed: fc.boolean(),
      pageSize: fc.integer({ min: 1, max: 4 }),
      groups: fc.array(fc.record({ name: text }), { minLength: 3, maxLength: 4 }),
      things: fc.array(thing, { minLength: 1, maxLength: 9 }),
    })
    .map(({ groups, things, ...of }) => ({
      ...of,
      fields: list,
      groups: groups.map((group, id) => ({ id, ...group })),
      things: things.map((one, index) => ({
        code: of.hasTextKeys ? `ann.${index}@private.example` : index + 1,
        group_id: one.group,
        ...JSON.parse(JSON.stringify(one.row)),
        self: `/things/${of.hasTextKeys ? encodeURIComponent(`ann.${index}@private.example`) : index + 1}`,
        parts: one.parts.map(([name, color]) => ({ name, color })),
        etag: one.noise,
      })),
    }));
});

/** True if rows are found by the digest of the key that they had before redaction. */
const isHashed = ({ hasTextKeys, isKeyHashed }: Vendor): boolean => hasTextKeys && isKeyHashed;

const redactOf = (vendor: Vendor): string => {
  const names = new Map<string, string[]>();
  const add = (mode: string, name: string): void =>
    void names.set(mode, [...(names.get(mode) ?? []), name]);
  for (const { name, policy, isRequired } of vendor.fields) {
    if (policy === 'none' || (policy === 'drop' && isRequired)) continue;
    add(policy, name);
  }
  for (const said of vendor.ofPeople) {
    const [mode = '', name = ''] = said.split(' = ');
    const people = vendor.fields.filter(({ kind }) => kind === 'person');
    if (!name.startsWith('person.')) add(mode, name);
    else for (const person of people) add(mode, name.replace('person', person.name));
  }
  if (isHashed(vendor)) add('hash', 'code');
  const lists = ['hash', 'drop', 'preserve'].map(
    (mode) => `${mode} = ${JSON.stringify(names.get(mode) ?? [])}`,
  );
  const rounds = (names.get('round') ?? []).map((name) => `${name} = 2`).join(', ');
  return `[redact]\n${lists.join('\n')}\nround = { ${rounds} }\n`;
};

const treeOf = (vendor: Vendor): TreeFile[] => {
  const key = vendor.hasTextKeys ? 'string' : 'integer';
  const entity = (properties: Row, required: string[], key: string[], more: Row = {}) => ({
    schema: { type: 'object', additionalProperties: false, required, properties },
    primary_key: key,
    ...more,
  });
  const own = Object.fromEntries(vendor.fields.map(({ name, kind }) => [name, kinds[kind].schema]));
  const required = vendor.fields.filter(({ isRequired }) => isRequired).map(({ name }) => name);
  const world = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: 'urn:svc:test:round-trip',
    $defs: {},
    'x-svc': {
      version: 1,
      domain_version: '1',
      package: { id: 'round-trip', version: '1' },
      entities: {
        groups: entity({ id: { type: 'integer' }, name: { type: 'string' } }, ['id'], ['id']),
        things: entity(
          { code: { type: key }, group_id: { type: 'integer' }, self: { type: 'string' }, ...own },
          ['code', ...required],
          ['code'],
          { relationships: [{ fields: ['group_id'], target: 'groups', on_delete: 'restrict' }] },
        ),
        parts: entity(
          { thing_id: { type: key }, name: { type: 'string' }, color: { type: 'string' } },
          ['thing_id', 'name'],
          ['thing_id', 'name'],
        ),
      },
      tools: {},
    },
  };
  const ingest = (carried = ''): string => `[operations.ingest]
drop = ["etag"]
${carried}
[[operations.ingest.explode]]
field = "parts"
entity = "parts"
carry = { thing_id = "code" }`;
  const connector = `[connector]
slug = "round-trip"
base_url = "http://vendor.example/v1"
[capture]
requests_per_minute = 60000
max_pages = 20
cursor_param = "cursor"
cursor_field = "next"
${redactOf(vendor)}
[api]
page = "cursor"
page_size = ${vendor.pageSize}
hits_key = "total"
cursor_key = "next"
envelope = "rows"
[[operations]]
name = "list_groups"
path = "/groups"
entity = "groups"
results = "rows"
[[operations]]
name = "list_things"
path = "/groups/{group}/things"
entity = "things"
results = "rows"
${ingest(vendor.isCarried ? 'carry_args = { group_id = "group" }' : '')}
[operations.api]
filter = { group = "group_id" }
[[operations]]
name = "get_thing"
path = "/things/{code}"
entity = "things"
${ingest()}
[operations.api]
single = true
envelope = ""
filter = { code = "code" }
`;
  return [
    textFile(
      'svc-env.toml',
      '[schema]\nlanguage = "svc-world/1"\n\n[environment]\nname = "Round trip"\nkind = "mock-tools"\n\n[tools]\nserve = []\n',
    ),
    textFile('schema/world.json', JSON.stringify(world)),
    textFile('connector.toml', connector),
  ];
};

/** Returns the vendor's answer to a request. */
const answerOf = (vendor: Vendor, url: URL): { status: number; json: unknown } => {
  const [, , noun, id, inner] = url.pathname.split('/').map(decodeURIComponent);
  const page = (rows: Row[]) => {
    const start = Number(url.searchParams.get('cursor') ?? 0);
    const end = start + vendor.pageSize;
    const next = end < rows.length ? String(end) : '';
    return { status: 200, json: { rows: rows.slice(start, end), total: rows.length, next } };
  };
  if (noun === 'groups' && inner === undefined) return page(vendor.groups);
  const answered = vendor.things.map(({ group_id, ...row }) =>
    vendor.isCarried
      ? { group: String(group_id), row }
      : { group: String(group_id), row: { group_id, ...row } },
  );
  if (noun === 'groups')
    return page(answered.filter(({ group }) => group === id).map(({ row }) => row));
  const found = answered.find(({ row }) => String(row.code) === id);
  return found === undefined ? { status: 404, json: {} } : { status: 200, json: found.row };
};

const capture = async (
  vendor: Vendor,
  folder: string,
  contract: Contract & { vendor: VendorContract },
) => {
  const { signal } = new AbortController();
  return captureVendor({
    ...{ contract, folder, signal, mostItems: 4, secrets: createSecrets() },
    operations: contract.vendor.operations,
    given: { everywhere: new Map(), byOperation: new Map(), sets: new Map() },
    time: { now: () => 0, wait: async () => undefined },
    asker: {
      async ask(url) {
        const { status, json } = answerOf(vendor, url);
        const headers = { 'content-type': 'application/json' };
        return { attempts: 1, answer: { status, headers, json, text: JSON.stringify(json) } };
      },
    },
  });
};

type Kept = { operation: string; arguments: Row; url: string; page?: number; body: Row };

const capturesIn = (folder: string): Kept[] =>
  readdirSync(join(folder, 'captures'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.json'))
    .map((entry) => JSON.parse(readFileSync(join(entry.parentPath, entry.name), 'utf8')) as Kept)
    .sort((a, b) => (a.page ?? 0) - (b.page ?? 0));

/** Converts a captured row to a row of its entity, without the fields that ingest drops or turns into separate rows. */
const asRow = ({ etag, parts, ...row }: Row): Row => row;

/** Returns the rows of an answer, with only those fields that captures and worlds both have. */
const rowsOf = ({ isCarried }: Vendor, { operation, body }: Kept): Row[] =>
  (operation === 'get_thing' ? [body] : (body.rows as Row[])).map((row) => {
    const { group_id, ...rest } = asRow(row);
    return isCarried ? rest : { group_id, ...rest };
  });

let folders = 0;

const roundTrip = async (vendor: Vendor): Promise<void> => {
  folders += 1;
  const folder = join(home, String(folders));
  const tree = treeOf(vendor);
  for (const { path, content } of tree) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
  const compiled = compileTree(tree);
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.problems));
  const { contract } = compiled;
  if (contract.vendor === null) throw new Error('it has a connector');
  await capture(vendor, folder, { ...contract, vendor: contract.vendor });
  const context = testContext({ cwd: folder });
  const words = ['worlds', 'data', 'extract', './', '--format', 'json', '--out', 'data/'];
  const status = await runCommandLine(words, context);
  expect(status, context.written().err).toBe(0);

  const captures = capturesIn(folder);
  const served = await serveWorld(readTree(folder), { seed: 1 });
  const ask = async (path: string): Promise<Row> => {
    const headers = { authorization: `Bearer ${served.token}` };
    const response = await fetch(served.url + path, { headers });
    expect(response.status, path).toBe(200);
    return (await response.json()) as Row;
  };
  try {
    for (const url of new Set(captures.map((kept) => kept.url))) {
      const path = new URL(url).pathname.replace('/v1', '');
      let cursor = '';
      for (const kept of captures.filter((one) => one.url === url)) {
        const query = cursor === '' ? '' : `?cursor=${encodeURIComponent(cursor)}`;
        const answer = await ask(path + query);
        expect(rowsOf(vendor, { ...kept, body: answer })).toEqual(rowsOf(vendor, kept));
        if (kept.operation === 'get_thing') continue;
        expect(answer.total).toBe(kept.body.total);
        cursor = String(answer.next ?? '');
        expect(cursor === '').toBe(kept.body.next === '');
      }
    }
    // All rows of the vendor were captured, and are redacted as the rules for rows require.
    const all = vendor.things.map((row) => asRow(redactRow(contract.redact as never, row).row));
    const held = served.rows('things', {});
    const byKey = new Map(held.map((row) => [row.code, row]));
    for (const { self, ...row } of all) expect(byKey.get(row.code)).toMatchObject(row);
    expect(held).toHaveLength(all.length);
    const parts = vendor.things.flatMap((row) => row.parts as Row[]);
    expect(served.rows('parts', {})).toHaveLength(parts.length);
    if (isHashed(vendor)) expect(JSON.stringify([captures, held])).not.toContain('private.example');
  } finally {
    await served.stop();
    rmSync(folder, { recursive: true, force: true });
  }
};

describe('a vendor with any rows', () => {
  it('is served as it was captured, with its answers redacted exactly once', async () => {
    const { times, seed } = inject('fuzz');
    await fc.assert(fc.asyncProperty(vendors, roundTrip), { numRuns: 20 * times, seed });
  });
});
