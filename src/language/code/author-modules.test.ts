/**
 * Compares the copies of the author's contract with one another: the lists of host modules, the stubs against which
 * authors write, the hosts' module for tests, and the docs. Python and TypeScript must offer the same functions, each
 * in its own spelling. `author-types.test.ts` of the world host compares signatures and docstrings of `svc_env` itself.
 */
import { globSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { allowedBuiltins } from '../../../world-host-image/usercode/typescript/loader.ts';
import { type AuthorModules, pythonModules, typescriptModules } from './author-modules.ts';
import { nodeModules } from './node-modules.ts';

const stub = (file: string): string =>
  readFileSync(new URL(`../../author-types/${file}`, import.meta.url), 'utf8');

const repo = new URL('../../../', import.meta.url);

const doc = (file: string): string => readFileSync(new URL(`docs/${file}`, repo), 'utf8');

/** Reads a file of the host's own modules, in any folder below that of user code. */
const hostFile = (name: string): string => {
  const [found = name] = globSync(`world-host-image/usercode/**/${name}`, { cwd: repo });
  return readFileSync(new URL(found, repo), 'utf8');
};

const all = (text: string, pattern: RegExp): string[] =>
  [...text.matchAll(pattern)].map(([, name = '']) => name);

/** Returns the block that begins with a line, and ends before the next line that is not indented. */
const block = (text: string, beginning: string): string => {
  const [, rest = ''] = text.split(beginning);
  return rest.split(/^(?=\S)/m)[0] ?? '';
};

const sorted = (names: Iterable<string> | undefined): string[] => [...(names ?? [])].sort();

describe('Python', () => {
  const files = [
    ['svc_env', '__init__'],
    ['svc_env.ctx', 'ctx'],
    ['svc_env.finding', 'finding'],
    ['svc_env.testing', 'testing'],
  ] as const;

  it.each(files)('%s exports what its stub declares', (module, file) => {
    const text = stub(`svc_env/${file}.pyi`);
    const declared = all(text, /^(?:def|class) ([A-Za-z]\w*)|^([A-Za-z]\w*)(?=:| = )/gm);
    const named = all(text, /^([A-Za-z]\w*)(?=:| = )/gm);
    const lines = all(text, /^(from \..*)$/gm).join('\n');
    const imported = all(lines, /\bas ([A-Za-z]\w*)/g);
    const names = new Set([...declared, ...named, ...imported].filter((name) => name !== ''));
    expect(sorted(pythonModules.exports.get(module))).toEqual(sorted(names));
  });

  it('gives contexts the members of their stubs', () => {
    const text = stub('svc_env/ctx.pyi');
    const members = (name: string) =>
      all(
        block(text, `class ${name}:\n`) || block(text, `class ${name}(_Reader):\n`),
        /^ {4}(?:def )?([a-z]\w*)[:(]/gm,
      );
    const reader = members('_Reader');
    expect(sorted(pythonModules.members.handler)).toEqual(
      sorted([...reader, ...members('HandlerContext')]),
    );
    expect(sorted(pythonModules.members.verify)).toEqual(
      sorted([...reader, ...members('VerifyContext')]),
    );
  });
});

describe('TypeScript', () => {
  const text = stub('svc_env.d.ts');
  const moduleText = (name: string) => block(text, `declare module '${name}' {\n`);
  const exported = (name: string, kinds: string) =>
    all(moduleText(name), new RegExp(`^  export (?:${kinds}) (\\w+)`, 'gm'));

  it.each(['svc_env', 'svc_env/testing'])('%s exports what its stub declares', (module) => {
    const values = exported(module, 'const|function|class');
    expect(sorted(typescriptModules.exports.get(module))).toEqual(sorted(values));
  });

  it('has the types of the stub', () => {
    const types = ['svc_env', 'svc_env/testing'].flatMap((name) =>
      exported(name, 'type|interface'),
    );
    expect(sorted(typescriptModules.types)).toEqual(sorted(types));
  });

  it('gives the context of a handler the members of its stub', () => {
    const members = (beginning: string) => {
      const [, rest = ''] = text.split(beginning);
      return all(rest.split(/^ {2}\}/m)[0] ?? '', /^ {4}(\w+)[:(<]/gm);
    };
    const names = [
      ...['export type HandlerRequest = {', 'interface Reader {', 'interface Writer {'],
      'export interface HandlerContext extends HandlerRequest, Reader, Writer {',
    ].flatMap(members);
    expect(sorted(typescriptModules.members.handler)).toEqual(sorted(names));
  });

  it('lists the modules of Node that the host allows', () => {
    expect(sorted(nodeModules)).toEqual(sorted(allowedBuiltins));
  });
});

it('functions of the store are exported, and are members of a handler’s context', () => {
  const held = ({ store, exports, members }: AuthorModules) =>
    [...store].filter((name) => !exports.get('svc_env')?.has(name) || !members.handler.has(name));
  expect([held(pythonModules), held(typescriptModules)]).toEqual([[], []]);
});

/** Returns a Python name in the spelling of TypeScript. */
const inTypeScript = (name: string): string =>
  name === 'delete'
    ? 'remove'
    : name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());

describe('both languages', () => {
  it('have the same members of contexts', () => {
    for (const kind of ['handler', 'verify'] as const) {
      const python = [...pythonModules.members[kind]].map(inTypeScript);
      expect(sorted(typescriptModules.members[kind])).toEqual(sorted(python));
    }
  });

  it('have the same exports, except for the types of options and requests', () => {
    const named = ['svc_env', 'svc_env/testing'].flatMap((name) => [
      ...(typescriptModules.exports.get(name) ?? []),
    ]);
    const onlyTypes = new Set(['QueryOptions', 'HandlerRequest', 'RequestOptions']);
    const typescript = [...named, ...typescriptModules.types].filter(
      (name) => !onlyTypes.has(name),
    );
    const python = ['svc_env', 'svc_env.testing'].flatMap((name) =>
      [...(pythonModules.exports.get(name) ?? [])].map(inTypeScript),
    );
    expect(sorted(typescript)).toEqual(sorted(python));
  });
});

describe('the world under test', () => {
  const pythonMember = /^ {4}(?:def )?([a-z]\w*)(?:[:(]| = )/gm;
  const members = all(block(stub('svc_env/testing.pyi'), 'class _World:\n'), pythonMember);
  const [, declared = ''] = stub('svc_env.d.ts').split('  export const world: {\n');
  const typescript = all(declared.split(/^ {2}\}/m)[0] ?? '', /^ {4}(\w+)[:(]/gm);

  it('has the members of its stub in Python', () => {
    const text = hostFile('testing.py');
    expect(sorted(all(block(text, 'class _World:\n'), pythonMember))).toEqual(sorted(members));
  });

  it('has the members of its declaration in TypeScript', () => {
    const text = block(hostFile('svc-testing.ts'), 'export const world = {\n');
    expect(sorted(all(text, /^ {2}(\w+)[:,]/gm))).toEqual(sorted(typescript));
  });

  it('has the same members in both languages', () => {
    expect(sorted(typescript)).toEqual(sorted(members.map(inTypeScript)));
  });

  it('has every member in the docs', () => {
    const text = doc('write-worlds/tests.md') + doc('use/tasks.md');
    expect([...members, ...typescript].filter((name) => !text.includes(name))).toEqual([]);
  });
});

it('the docs name every member of a handler’s context, in both spellings', () => {
  const text = doc('write-worlds/user-code.md');
  const names = [...pythonModules.members.handler, ...typescriptModules.members.handler];
  expect(names.filter((name) => !new RegExp(`\\b${name}\\b`).test(text))).toEqual([]);
});
