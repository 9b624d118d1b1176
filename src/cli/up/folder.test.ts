import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  judgeDiskSpace,
  judgeFolder,
  loadSecrets,
  openDataFolder,
  rememberPorts,
  type Secrets,
  writeCredentials,
} from './folder.ts';

const folder = (names: string[], writable = true) => ({ kind: 'folder' as const, writable, names });

describe('judgeFolder', () => {
  it.each([
    ['nothing there', { kind: 'absent' as const }],
    ['an empty folder', folder([])],
    ['a folder of its own', folder(['pg', 'blobs', 'logs', 'secrets.json', 'credentials.json'])],
    ['what a killed start left', folder(['up.lock', 'pg.new', 'pg.password', '.gitignore'])],
  ])('accepts %s', (_, state) => {
    expect(judgeFolder('/d', state)).toBeUndefined();
  });

  it.each([
    ['a file', { kind: 'not_a_folder' as const }, '/d is a file, not a folder'],
    ['a folder that it may not write to', folder([], false), '/d cannot be written to'],
    [
      'a folder of someone else',
      folder(['z.txt', 'a.txt', 'm.txt', 'pg', 'n.txt']),
      '/d already contains other files (a.txt, m.txt, n.txt, …)',
    ],
    [
      'a database without its secrets',
      folder(['pg']),
      '/d contains a database but no secrets.json, without which the database cannot be opened',
    ],
  ])('refuses %s', (_, state, reason) => {
    expect(judgeFolder('/d', state)).toBe(reason);
  });
});

describe('judgeDiskSpace', () => {
  const mebibyte = 2 ** 20;

  it.each([
    ['a new database', false, 128],
    ['a database that is there', true, 16],
  ])('refuses a disk with too little free space for %s', (_, hasDatabase, least) => {
    const judge = (freeBytes: number) => judgeDiskSpace('/d', { hasDatabase, freeBytes });
    expect(judge(least * mebibyte)).toBeUndefined();
    expect(judge(least * mebibyte - 1)).toBe(
      `the disk of /d has ${least - 1} MiB free, but svc up needs ${least} MiB there`,
    );
  });
});

describe('openDataFolder', () => {
  let root: string;
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'svc-folder-'));
  });
  afterEach(() => {
    chmodSync(root, 0o700);
    rmSync(root, { recursive: true, force: true });
  });

  const modeOf = (path: string): number => statSync(path).mode & 0o777;

  it('creates missing folders, readable only by the user', () => {
    const made = openDataFolder(join(root, 'a', 'b'));
    expect(modeOf(made.path)).toBe(0o711);
    expect(modeOf(made.blobDir)).toBe(0o700);
    expect(modeOf(made.logDir)).toBe(0o700);
    openDataFolder(made.path);
  });

  it('changes nothing in a folder that belongs to another program', () => {
    writeFileSync(join(root, 'thesis.txt'), '');
    expect(() => openDataFolder(root)).toThrow('already contains other files (thesis.txt)');
    expect(() => statSync(join(root, 'blobs'))).toThrow();
  });

  it('refuses a path below a file', () => {
    writeFileSync(join(root, 'file'), '');
    expect(() => openDataFolder(join(root, 'file', 'data'))).toThrow(
      'cannot be created: a part of its path is a file (ENOTDIR)',
    );
  });

  it('makes secrets and credentials readable by the user only, and reuses them after a restart', () => {
    const made = openDataFolder(root);
    const secrets = loadSecrets(made);
    const ports = { port: 4711, internalPort: 4713 };
    rememberPorts(made, secrets, ports);
    expect(loadSecrets(made)).toEqual({ ...secrets, ...ports });
    writeCredentials(made, { url: 'http://x', caFile: undefined }, secrets);
    expect(modeOf(join(root, 'secrets.json'))).toBe(0o600);
    expect(modeOf(made.credentialsFile)).toBe(0o600);
    expect(JSON.parse(readFileSync(made.credentialsFile, 'utf8'))).toEqual({
      url: 'http://x',
      publicKey: secrets.publicKey,
      secretKey: secrets.secretKey,
      organization: {
        publicKey: secrets.organizationPublicKey,
        secretKey: secrets.organizationSecretKey,
      },
    });
  });

  it('adds the key pair of the organization to a data folder of an earlier release, only once', () => {
    const made = openDataFolder(root);
    const { organizationPublicKey, organizationSecretKey, ...before } = loadSecrets(made);
    expect([organizationPublicKey, organizationSecretKey].join()).toMatch(/^pk-.*,sk-/);
    writeFileSync(join(root, 'secrets.json'), JSON.stringify(before));
    const after = loadSecrets(made);
    expect(after).toEqual({
      ...before,
      organizationPublicKey: expect.stringMatching(/^pk-/),
      organizationSecretKey: expect.stringMatching(/^sk-/),
    });
    expect(loadSecrets(made)).toEqual(after);
  });

  it('names the file on a full disk, explains what to do, and leaves no partial file', () => {
    const data = join(root, 'd');
    const full = (name: string) => {
      rmSync(join(data, name), { force: true });
      symlinkSync('/dev/full', join(data, name));
    };
    const refusal = (name: string) => ({
      message: `cannot write ${join(data, name)} (ENOSPC)`,
      detail: { hint: expect.stringContaining('--data <folder>') },
    });
    const made = openDataFolder(data);
    full('.gitignore');
    expect(() => openDataFolder(data)).toThrow(expect.objectContaining(refusal('.gitignore')));
    rmSync(join(data, '.gitignore'));
    full('secrets.json.new');
    expect(() => loadSecrets(made)).toThrow(expect.objectContaining(refusal('secrets.json.new')));
    full('credentials.json.new');
    const given = { publicKey: 'pk', secretKey: 'sk' } as Secrets;
    expect(() => writeCredentials(made, { url: 'http://x', caFile: undefined }, given)).toThrow(
      expect.objectContaining(refusal('credentials.json.new')),
    );
    expect(readdirSync(data).sort()).toEqual(['blobs', 'logs']);
  });

  it('refuses a secrets file in an unknown format', () => {
    mkdirSync(join(root, 'd'));
    writeFileSync(join(root, 'd', 'secrets.json'), '{"version":2}');
    expect(() => loadSecrets(openDataFolder(join(root, 'd')))).toThrow('this version of svc');
  });
});
