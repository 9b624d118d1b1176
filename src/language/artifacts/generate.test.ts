import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import type { TreeFile } from '#domain/world.ts';
import { sampleContract } from '#test/support/worlds/sample-contract.ts';
import { sampleApi } from '#test/support/worlds/sample-world.ts';
import { textFile } from '#test/support/worlds/small-world.ts';
import { generateArtifacts } from './generate.ts';

const ui = { static: 'ui', entry: '/', apiPath: '/__world-api', generated: null };

const tree: TreeFile[] = [
  'svc-env.toml',
  'connector.toml',
  'schema/world.json',
  'schema/people.json',
  'schema/lock.json',
  'schema/runtime.json',
  'schema/notes.txt',
  'data/users.json',
  'data/ünïcode.json',
  'data/Zed.json',
  'api/handlers.py',
  'api/other.py',
  'tools.py',
  'tasks.json',
  'verifiers/a.sql',
  'scenarios/a/scenario.toml',
  'scenarios/a/instruction.md',
  'scenarios/a/notes.md',
  'scenarios/a/seed/users.json',
  'scenarios/a/checks/verify.py',
  'README.md',
].map((path) => textFile(path, path));

const contract = sampleContract({ api: sampleApi, ui });

const textOf = (files: readonly TreeFile[], path: string): string =>
  new TextDecoder().decode(files.find((file) => file.path === path)?.content);

const lockOf = (files: readonly TreeFile[]) => JSON.parse(textOf(files, 'schema/lock.json'));

describe('generateArtifacts', () => {
  it('writes every generated file, including the page and the OpenAPI document if the world has them', () => {
    const paths = (parts = {}): string[] =>
      generateArtifacts({ contract: { ...contract, ...parts }, files: tree }).map(
        ({ path }) => path,
      );
    expect(paths()).toEqual([
      'db/schema.sql',
      'schema/README.md',
      'schema/lock.json',
      'schema/openapi.json',
      'schema/runtime.json',
      'tool-schemas.json',
      'ui/_app/app.css',
      'ui/_app/app.js',
      'ui/_app/licences.txt',
      'ui/_app/world.json',
      'ui/index.html',
    ]);
    expect(paths({ api: null, ui: null })).toEqual([
      'db/schema.sql',
      'schema/README.md',
      'schema/lock.json',
      'schema/runtime.json',
      'tool-schemas.json',
    ]);
  });

  it('returns the same bytes for any order of the files', () => {
    const bytesOf = (files: readonly TreeFile[]): string[] =>
      generateArtifacts({ contract, files }).map(
        ({ path, content }) => `${path} ${Buffer.from(content).toString('base64')}`,
      );
    const orders = [tree.toReversed(), [...tree.slice(7), ...tree.slice(0, 7)]];
    for (const order of orders) {
      expect(bytesOf(order)).toEqual(bytesOf(tree));
    }
  });

  it('writes a contract that reads back unchanged, and tables that SQLite opens', () => {
    const files = generateArtifacts({ contract, files: tree });
    expect(JSON.parse(textOf(files, 'schema/runtime.json'))).toEqual(contract);
    const db = new DatabaseSync(':memory:');
    db.exec(textOf(files, 'db/schema.sql'));
    const tables = db.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all();
    expect(tables.map(({ name }) => name)).toEqual(contract.entities.map(({ name }) => name));
  });

  it('records in the lock the digests of the files that compiling read and wrote, by path', () => {
    const files = generateArtifacts({ contract, files: tree });
    const lock = lockOf(files);
    expect(Object.keys(lock.inputs)).toEqual([
      'api/handlers.py',
      'connector.toml',
      'data/Zed.json',
      'data/users.json',
      'data/ünïcode.json',
      'scenarios/a/checks/verify.py',
      'scenarios/a/instruction.md',
      'scenarios/a/scenario.toml',
      'scenarios/a/seed/users.json',
      'schema/people.json',
      'schema/world.json',
      'svc-env.toml',
      'tasks.json',
      'tools.py',
      'verifiers/a.sql',
    ]);
    expect(Object.keys(lock.artifacts)).toEqual(
      files.map(({ path }) => path).filter((path) => path !== 'schema/lock.json'),
    );
    expect(lock.language).toBe('svc-world/1');
    expect(lock.package).toMatchObject({ id: 'sample', version: '1' });
  });

  it('changes in the lock only the digest of the part of a world that changed', () => {
    const digests = (parts = {}) => {
      const lock = lockOf(generateArtifacts({ contract: { ...contract, ...parts }, files: tree }));
      return [lock.domain.digest, lock.package.digest, lock.tools.digest];
    };
    const [domain, pack, tools] = digests();
    const tool = {
      name: 't',
      input: {},
      output: {},
      binding: { kind: 'operation' as const, operation: 'o' },
    };
    expect(digests({ name: 'another' })).toEqual([domain, pack, tools]);
    expect(digests({ tools: [tool] })).toEqual([domain, pack, expect.not.stringMatching(tools)]);
    expect(digests({ domainVersion: '2' }).slice(1)).toEqual([pack, tools]);
    expect(digests({ domainVersion: '2' })[0]).not.toBe(domain);
    expect(digests({ package: { id: 'sample', version: '2' } })[1]).not.toBe(pack);
  });

  it('ignores the order of keys in the data model', () => {
    const turned = contract.entities.map(({ name, ...rest }) => ({ ...rest, name }));
    const [there, back] = [contract, { ...contract, entities: turned }].map((one) =>
      lockOf(generateArtifacts({ contract: one, files: tree })),
    );
    expect(back.domain).toEqual(there.domain);
  });
});
