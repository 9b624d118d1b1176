/** Compares the lists of host modules with the stubs against which authors write. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { allowedBuiltins } from '../../../world-host-image/usercode/typescript-loader.ts';
import { type AuthorModules, pythonModules, typescriptModules } from './author-modules.ts';
import { nodeModules } from './node-modules.ts';

const stub = (file: string): string =>
  readFileSync(new URL(`../../author-types/${file}`, import.meta.url), 'utf8');

const all = (text: string, pattern: RegExp): string[] =>
  [...text.matchAll(pattern)].map(([, name = '']) => name);

/** Returns the block that begins with a line and ends before the next line without indent. */
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

  it('contexts have the members of their stubs', () => {
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

  it('types are those of the stub', () => {
    const types = ['svc_env', 'svc_env/testing'].flatMap((name) =>
      exported(name, 'type|interface'),
    );
    expect(sorted(typescriptModules.types)).toEqual(sorted(types));
  });

  it('the context of a handler has the members of its stub', () => {
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

  it('modules of Node are those that the host lets through', () => {
    expect(sorted(nodeModules)).toEqual(sorted(allowedBuiltins));
  });
});

it('functions of the store are exported, and members of a handler’s context', () => {
  const held = ({ store, exports, members }: AuthorModules) =>
    [...store].filter((name) => !exports.get('svc_env')?.has(name) || !members.handler.has(name));
  expect([held(pythonModules), held(typescriptModules)]).toEqual([[], []]);
});
