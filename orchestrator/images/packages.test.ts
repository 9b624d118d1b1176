import { describe, expect, it } from 'vitest';
import { closePackages, importedPackages, type LockFile } from './packages.ts';

const lock: LockFile = {
  packages: {
    '': { dependencies: { a: '1', svc_env: '1' } },
    'node_modules/a': { version: '1.0.0', integrity: 'x', dependencies: { b: '1', '@s/c': '1' } },
    'node_modules/a/node_modules/b': { version: '2.0.0', dependencies: { d: '1' } },
    'node_modules/b': { version: '1.0.0' },
    'node_modules/@s/c': { version: '1.0.0', dependencies: { a: '1', b: '1' } },
    'node_modules/d': { version: '1.0.0', optionalDependencies: { absent: '1' } },
    'node_modules/unused': { version: '1.0.0' },
  },
};

describe('the search for needed packages', () => {
  it('finds package names in imports of every form', () => {
    const source = `
      import a from 'a/deep/path.js';
      import { type B } from "@s/b/sub";
      import 'side-effect';
      export { c } from 'c';
      const d = await import('d');
      import type { T } from 'types-only';
      export type {
        U,
      } from 'types-only';
      import fs from 'node:fs';
      import x from './x.ts';
      import y from '#domain/y.ts';
    `;
    expect(importedPackages(source)).toEqual(['a', '@s/b', 'side-effect', 'c', 'd']);
  });

  it('includes dependencies of dependencies as Node resolves them, nested copies first', () => {
    const paths = closePackages(lock, ['a']).map(({ path }) => path);
    expect(paths).toEqual([
      'node_modules/@s/c',
      'node_modules/a',
      'node_modules/a/node_modules/b',
      'node_modules/b',
      'node_modules/d',
    ]);
  });

  it('leaves out packages that are not installed, and those that the project does not depend on', () => {
    expect(closePackages(lock, ['svc_env', 'unused'])).toEqual([]);
  });
});
