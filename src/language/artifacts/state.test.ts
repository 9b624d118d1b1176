import { describe, expect, it } from 'vitest';
import type { TreeFile } from '#domain/world.ts';
import { sampleContract } from '#test/support/worlds/sample-contract.ts';
import { sampleApi } from '#test/support/worlds/sample-world.ts';
import { textFile } from '#test/support/worlds/small-world.ts';
import type { Contract } from '../contract.ts';
import { generateArtifacts } from './generate.ts';
import { generatedState, staleProblems } from './state.ts';

const lockPath = 'schema/lock.json';

const inputs = [
  textFile('schema/world.json', '{}'),
  textFile('svc-env.toml', ''),
  textFile('notes.md', ''),
];

const compile = (files: TreeFile[], parts: Partial<Contract> = {}) => {
  const contract = sampleContract({ api: sampleApi, ...parts });
  return { files, contract, generated: generateArtifacts({ contract, files }) };
};

const without = (files: readonly TreeFile[], path: string): TreeFile[] =>
  files.filter((file) => file.path !== path);

const replaced = (files: readonly TreeFile[], path: string, content: string): TreeFile[] => [
  ...without(files, path),
  textFile(path, content),
];

const textOf = (files: readonly TreeFile[], path: string): string =>
  new TextDecoder().decode(files.find((file) => file.path === path)?.content);

/** The sample tree with the files that compiling generates. */
const compiled = [...inputs, ...compile(inputs).generated];

const statesOf = (files: TreeFile[], parts?: Partial<Contract>): Record<string, string> =>
  Object.fromEntries(
    generatedState(compile(files, parts))
      .filter(({ state }) => state !== 'current')
      .map(({ path, state }) => [path, state]),
  );

const codesOf = (files: TreeFile[], parts?: Partial<Contract>): string[] =>
  staleProblems(compile(files, parts)).map(({ file, code }) => `${file} ${code}`);

describe('generatedState', () => {
  it('reports a compiled tree as current, whatever the order of its files', () => {
    expect(statesOf(compiled)).toEqual({});
    expect(statesOf(compiled.toReversed())).toEqual({});
    expect(staleProblems(compile(compiled))).toEqual([]);
    expect(generatedState(compile(compiled)).map(({ path }) => path)).toEqual([
      'db/schema.sql',
      'schema/README.md',
      'schema/lock.json',
      'schema/openapi.json',
      'schema/runtime.json',
      'tool-schemas.json',
    ]);
  });

  it('reports every file as missing in a tree that was never compiled, but no problem', () => {
    expect(new Set(Object.values(statesOf(inputs)))).toEqual(new Set(['missing']));
    expect(codesOf(inputs)).toEqual([]);
  });

  it('reports files as stale if the files from which they were compiled have changed', () => {
    expect(statesOf(compiled, { name: 'renamed' })).toEqual({
      'schema/README.md': 'stale',
      'schema/lock.json': 'stale',
      'schema/openapi.json': 'stale',
      'schema/runtime.json': 'stale',
    });
    expect(statesOf(replaced(compiled, 'svc-env.toml', '# a note'))).toEqual({
      'schema/lock.json': 'stale',
    });
    expect(statesOf(replaced(compiled, 'notes.md', 'a note'))).toEqual({});
  });

  it('reports a file that was changed by hand, and a file that was deleted', () => {
    const edited = replaced(compiled, 'db/schema.sql', '-- mine');
    expect(statesOf(edited)).toEqual({ 'db/schema.sql': 'edited' });
    expect(staleProblems(compile(edited))).toEqual([
      {
        file: 'db/schema.sql',
        pointer: '',
        code: 'edited_artifact',
        message: 'db/schema.sql is a generated file that was changed by hand',
        hint: 'run svc worlds schema compile on the folder, which replaces the changed file; move your changes to another file',
      },
    ]);
    const cut = without(compiled, 'schema/runtime.json');
    expect(statesOf(cut)).toEqual({ 'schema/runtime.json': 'missing' });
    expect(codesOf(cut)).toEqual(['schema/runtime.json stale_artifact']);
    const more = without(cut, 'db/schema.sql');
    expect(staleProblems(compile(more)).map(({ message }) => message)).toEqual([
      'db/schema.sql, schema/runtime.json are generated files that are missing, or were compiled from other files or by another version',
    ]);
  });

  it('reports an author’s file at the path of a generated file', () => {
    const own = [...inputs, textFile('schema/README.md', '# Mine')];
    expect(statesOf(own)['schema/README.md']).toBe('edited');
    expect(codesOf(own)).toEqual(['schema/README.md edited_artifact']);
  });

  it('reports files that are no longer generated', () => {
    expect(statesOf(compiled, { api: null })['schema/openapi.json']).toBe('stale');
    const problems = staleProblems(compile(compiled, { api: null }));
    expect(problems.find(({ message }) => message.startsWith('schema/openapi.json'))?.hint).toBe(
      'delete it',
    );
    const own = [...inputs, textFile('schema/openapi.json', '{}')];
    expect(statesOf(own, { api: null })['schema/openapi.json']).toBeUndefined();
  });

  it('reports a lock that was changed in any way', () => {
    const lock = textOf(compiled, lockPath);
    const forged = JSON.parse(lock);
    forged.artifacts['db/schema.sql'] = `sha256:${'0'.repeat(64)}`;
    const locks = [
      '',
      '{',
      'null',
      '[]',
      '{}',
      lock.replace('"seal"', '"Seal"'),
      lock.replace('\n', '\n\n'),
      lock.slice(0, -1),
      `\ufeff${lock}`,
      lock.replace('"inputs": {', '"inputs": {},\n  "inputs": {'),
      JSON.stringify(forged, null, 2),
      '{"seal":{"toString":1},"artifacts":{}}',
      '{"seal":"","artifacts":{"__proto__":{}},"__proto__":{"artifacts":{}}}',
      '['.repeat(1_000_000),
      `{"artifacts":${'['.repeat(100_000)}${']'.repeat(100_000)}}`,
    ];
    for (const text of locks) {
      expect(statesOf(replaced(compiled, lockPath, text))).toEqual({ [lockPath]: 'edited' });
    }
    const bytes = { path: lockPath, content: new Uint8Array([0xff, 0xfe, 0x00]) };
    expect(statesOf([...without(compiled, lockPath), bytes])).toEqual({ [lockPath]: 'edited' });
  });

  it('does not use the content of a changed lock', () => {
    const forged = JSON.parse(textOf(compiled, lockPath));
    const edited = replaced(compiled, 'db/schema.sql', '-- mine');
    forged.artifacts['db/schema.sql'] = 'sha256:forged';
    const tree = replaced(edited, lockPath, JSON.stringify(forged, null, 2));
    expect(statesOf(tree)['db/schema.sql']).toBe('edited');
  });
});
