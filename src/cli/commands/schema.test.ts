/** Tests `svc worlds schema …` on folders of this machine, by whole command lines. */
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { testContext } from '#test/support/cli/context.ts';
import { runCommandLine } from '../program.ts';

let home = '';
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'svc-schema-'));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const run = async (words: string) => {
  const context = testContext({ cwd: home });
  const status = await runCommandLine(['worlds', 'schema', ...words.split(' ')], context);
  return { status: status || context.status(), ...context.written() };
};

const ran = async (words: string) => {
  const result = await run(words);
  expect(result).toMatchObject({ status: 0, err: '' });
  return result.out;
};

const pathOf = (path: string): string => join(home, path);
const read = (path: string): string => readFileSync(pathOf(path), 'utf8');

/** Connector with one operation, which serves the rows of `deals`. */
const dealsConnector = `
[connector]
slug = "crm"
base_url = "https://crm.example"

[auth]
scheme = "bearer"
secret_env = "CRM_TOKEN"

[[operations]]
name = "get_deal"
path = "/deals/{id}"
entity = "deals"
`;

/** Redaction policy for the entity that a new world has. */
const hashed = '[redact]\nhash = ["title"]\n';

describe('svc worlds schema', () => {
  it('creates a world that is valid, compiles and is up to date', async () => {
    expect(await ran('init ./crm')).toContain('svc worlds schema check ./crm');
    expect(await ran('check ./crm')).toContain('not compiled yet');
    expect(await ran('compile ./crm')).toMatch(/schema\/lock\.json +written/);
    expect(await ran('check ./crm')).toContain('generated files are up to date');
    expect(await ran('compile ./crm')).not.toMatch(/written|renewed/);
    expect(read('crm/schema/README.md')).toContain('erDiagram');
  });

  it('writes the types of user code next to a world, and keeps existing editor configs', async () => {
    await ran('init ./crm');
    expect(read('crm/.types/svc_env/ctx.pyi')).toContain('class HandlerContext');
    expect(read('crm/.types/svc_env.d.ts')).toContain("declare module 'svc_env'");
    expect(existsSync(pathOf('crm/.types/svc_env/py.typed'))).toBe(true);
    writeFileSync(pathOf('crm/tsconfig.json'), '{}');
    rmSync(pathOf('crm/.types'), { recursive: true });
    const written = await ran('types ./crm');
    expect(written).toContain('.types/svc_env.d.ts');
    expect(written).not.toContain('tsconfig.json');
    expect(read('crm/tsconfig.json')).toBe('{}');
    expect(await ran('check ./crm')).toContain('is valid');
    expect(await run('types ./nowhere')).toMatchObject({ status: 1 });
  });

  it('names the file or folder that prevents writing', async () => {
    writeFileSync(pathOf('file'), '');
    const errorOf = async (words: string): Promise<string> => (await run(words)).err;
    expect(await errorOf('init file')).toMatch(/^error: cannot create a world in file: ENOTDIR/);
    expect(await errorOf('init file/crm')).toMatch(
      /^error: cannot write .*file\/crm\/README.md: ENOT/,
    );
    expect(await errorOf('json-schema --out file')).toMatch(/^error: cannot write .*: ENOTDIR/);
    expect(await errorOf('check file')).toBe('error: file is not a folder\n');
    expect(await errorOf('check file/crm')).toBe('error: there is no folder file/crm\n');
  });

  it('creates a world from a template under another name', async () => {
    await ran('init code --connector code-hosting --name Ours');
    expect(read('code/svc-env.toml')).toMatch(/^name = "Ours"$/m);
    expect(read('code/connector.toml')).toContain('# ');
    expect(await ran('check code')).toContain('code is valid');
  });

  it('prints the warnings of the service', async () => {
    await ran('init ./code --connector code-hosting');
    appendFileSync(pathOf('code/svc-env.toml'), '\n[actions]\non_push = ["tests"]\n');
    rmSync(pathOf('code/tests'), { recursive: true });
    const warning =
      'a push is configured to run the tests, but tests/ has no files, so no test runs';
    expect(await ran('check code')).toContain(`warning: ${warning}`);
    expect(JSON.parse(await ran('check code --json'))).toMatchObject({ warnings: [warning] });
  });

  it('warns of rows that are not redacted, with a command that redacts them', async () => {
    await ran('init ./plain');
    writeFileSync(pathOf('plain/connector.toml'), `${dealsConnector.split('[auth]')[0]}${hashed}`);
    const warned = await ran('check plain');
    expect(warned).toMatch(
      /^warning: data\/notes\.json: all 2 rows hold plaintext in title \[hash\]/,
    );
    const [, way = ''] = /"svc (.+?)"/.exec(warned) ?? [];
    const context = testContext({ cwd: pathOf('plain') });
    expect(await runCommandLine(way.split(' '), context)).toBe(0);
    expect(read('plain/data/notes.json')).not.toContain('README');
    expect(await ran('check plain')).not.toContain('warning');
  });

  it('refuses a non-empty folder and an unknown template, and lists the templates', async () => {
    mkdirSync(pathOf('full'));
    writeFileSync(pathOf('full/notes.txt'), 'mine');
    expect(await run('init full')).toMatchObject({
      status: 1,
      err: expect.stringContaining('full is not empty: it contains notes.txt'),
    });
    expect(readdirSync(pathOf('full'))).toEqual(['notes.txt']);
    expect(await run('init new --connector code-hostin')).toMatchObject({
      status: 1,
      err: expect.stringContaining('did you mean "code-hosting"?'),
    });
    expect(existsSync(pathOf('new'))).toBe(false);
    expect(await ran('templates')).toContain('code-hosting');
  });

  it('shows each problem with its line, also as JSON', async () => {
    await ran('init crm');
    appendFileSync(pathOf('crm/svc-env.toml'), '\n[tols]\nserve = []\n');
    const { status, err } = await run('check crm');
    expect(status).toBe(1);
    expect(err).toContain('unknown_key');
    expect(err).toMatch(/\d+ \| \[tols\]\n +\| +\^+/);
    expect(err).toContain('did you mean "tools"?');
    const asJson = await run('check crm --json');
    expect(asJson).toMatchObject({ status: 1, err: '' });
    expect(JSON.parse(asJson.out)).toMatchObject({
      status: 'rejected',
      problems: [{ file: 'svc-env.toml', code: 'unknown_key', line: expect.any(Number) }],
    });
    expect(await run('compile crm')).toMatchObject({ status: 1 });
    const compiled = await run('compile crm --json');
    expect(JSON.parse(compiled.err)).toMatchObject({
      error: { code: 'invalid', problems: [{ code: 'unknown_key' }] },
    });
    expect(existsSync(pathOf('crm/schema/lock.json'))).toBe(false);
  });

  it('names generated files that are outdated or were changed by hand', async () => {
    await ran('init crm');
    await ran('compile crm');
    appendFileSync(pathOf('crm/db/schema.sql'), '-- mine\n');
    expect((await run('check crm')).err).toContain('db/schema.sql edited_artifact');
    expect(await ran('compile crm')).toMatch(
      /schema\.sql +replaced, because it was changed by hand/,
    );
    await ran('entity add crm deals --field id:integer --field title:string');
    expect((await run('check crm')).err).toMatch(/stale_artifact: .*schema\/runtime\.json/);
    expect(await ran('compile crm')).toMatch(/schema\.sql +renewed/);
    await ran('check crm');
  });

  it('adds and removes entities, and prints the changes as a diff', async () => {
    await ran('init crm');
    const before = read('crm/schema/world.json');
    const added = await ran('entity add crm deals --field id:integer --field note?:string?');
    expect(added).toMatch(/^\+ .*"deals"/m);
    expect(JSON.parse(read('crm/schema/world.json'))['x-svc'].entities.deals).toMatchObject({
      schema: { required: ['id'], properties: { note: { type: ['string', 'null'] } } },
      primary_key: ['id'],
    });
    await ran('check crm');
    expect(await ran('entity remove crm deals')).toMatch(/^- .*"deals"/m);
    expect(read('crm/schema/world.json')).toBe(before);
  });

  it('refuses to remove an entity that is referred to, and names the references', async () => {
    await ran('init code --connector code-hosting');
    const { status, err } = await run('entity remove code users');
    expect(status).toBe(1);
    expect(err).toMatch(
      /^error: code cannot remove "users" \(add --uses to remove what refers to it, too\): \d+/,
    );
    expect(err).toContain('schema/world.json');
    expect((await run('entity remove code autolinks')).err).toContain('data/autolinks.json');
    expect((await run('entity remove code user')).err).toContain('did you mean "users"?');
    await ran('init crm');
    await ran('entity add crm deals --field id:integer');
    writeFileSync(pathOf('crm/connector.toml'), dealsConnector);
    expect((await run('entity remove crm deals')).err).toContain('connector.toml');
  });

  it('creates a world with an HTTP API, whose example entity can be replaced by other entities', async () => {
    const begun = await ran('init ./billing --api');
    expect(begun).toContain('connector.toml');
    expect(begun).toContain('svc worlds test ./billing');
    expect(await ran('check billing')).toContain('3 entities, 2 tools, 7 routes, 1 task');
    await ran('entity add billing deals --field id:integer');
    const removed = await ran('entity remove billing invoices --uses');
    expect(removed).toContain('removed data/invoices.json\n');
    expect(removed).toContain(
      'tests/invoices.test.ts still mentions "invoices", "get_invoice", "pay_invoice", "record-payment": change it, or delete the file',
    );
    expect(existsSync(pathOf('billing/data/invoices.json'))).toBe(false);
    expect((await run('check billing')).err).toContain('api/handlers.ts:7:56 unknown_entity');
    for (const code of ['api/handlers.ts', 'tests/invoices.test.ts'])
      rmSync(pathOf(`billing/${code}`));
    await ran('entity remove billing customers --uses');
    expect(await ran('check billing')).toContain('2 entities, 0 tools, 0 routes, 0 tasks');
    expect((await run('init ./other --api --connector code-hosting')).err).toContain(
      'name one start',
    );
  });

  it('adapts the data model to captures, and writes it only with --write', async () => {
    await ran('init crm');
    await ran('entity add crm deals --field id:integer');
    writeFileSync(pathOf('crm/connector.toml'), dealsConnector);
    const capture = {
      operation: 'get_deal',
      arguments: { id: 9 },
      status: 200,
      body: { id: 9, mood: 'fine' },
    };
    mkdirSync(pathOf('crm/captures/get_deal'), { recursive: true });
    writeFileSync(pathOf('crm/captures/get_deal/fine.json'), JSON.stringify(capture));
    const before = read('crm/schema/world.json');
    const shown = await ran('reconcile crm');
    expect(shown).toMatch(/^\+ .*"mood"/m);
    expect(shown).toContain('add --write to apply');
    expect(read('crm/schema/world.json')).toBe(before);
    await ran('reconcile crm --write');
    expect(read('crm/schema/world.json')).toContain('"mood"');
    expect(await ran('reconcile crm')).toContain('the data model fits the captures');
  });

  it('prints JSON Schemas for editors', async () => {
    expect(JSON.parse(await ran('json-schema connector.toml'))).toMatchObject({
      type: 'object',
      required: ['connector'],
    });
    await ran('json-schema --out schemas');
    expect(readdirSync(pathOf('schemas')).sort()).toEqual([
      'connector.schema.json',
      'scenario.schema.json',
      'svc-env.schema.json',
      'tasks.schema.json',
      'world.schema.json',
    ]);
    expect(await run('json-schema')).toMatchObject({ status: 1 });
    expect(await run('json-schema x.toml')).toMatchObject({ status: 1 });
  });

  it('never writes through a symbolic link', async () => {
    await ran('init crm');
    mkdirSync(pathOf('elsewhere'));
    symlinkSync(pathOf('elsewhere'), pathOf('crm/db'));
    expect((await run('compile crm')).err).toContain('db is a link');
    expect(readdirSync(pathOf('elsewhere'))).toEqual([]);
  });
});
