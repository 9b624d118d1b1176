import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readConnection, readOperatorConnection, wayToCredentials } from './connection.ts';

describe('readConnection', () => {
  let root: string;
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'svc-config-'));
  });
  afterEach(() => {
    rmSync(root, { recursive: true, force: true });
  });

  const putCredentials = (folder: string, url: string): void => {
    mkdirSync(folder, { recursive: true });
    const credentials = { url, publicKey: 'pk-file', secretKey: 'sk-file' };
    writeFileSync(join(folder, 'credentials.json'), JSON.stringify(credentials));
  };

  it('prefers environment variables to files', () => {
    putCredentials(join(root, '.svc'), 'http://file');
    const env = { SVC_URL: 'http://env/', SVC_PUBLIC_KEY: 'pk', SVC_SECRET_KEY: 'sk' };
    const found = readConnection({ env, cwd: root });
    expect(found).toMatchObject({ url: 'http://env', publicKey: 'pk' });
    expect(found.secretKey?.reveal()).toBe('sk');
  });

  it('accepts a public key without a secret key', () => {
    const found = readConnection({ env: { SVC_PUBLIC_KEY: 'pk' }, cwd: root });
    expect(found).toMatchObject({ url: 'http://127.0.0.1:4500', secretKey: undefined });
  });

  it('never sends keys from a file to an address from the environment', () => {
    putCredentials(join(root, '.svc'), 'http://file');
    expect(() => readConnection({ env: { SVC_URL: 'http://other' }, cwd: root })).toThrow(
      'SVC_URL is set, but SVC_PUBLIC_KEY is not',
    );
  });

  it('finds the nearest .svc above the working folder', () => {
    putCredentials(join(root, '.svc'), 'http://file');
    const below = join(root, 'a', 'b');
    mkdirSync(below, { recursive: true });
    expect(readConnection({ env: {}, cwd: below }).url).toBe('http://file');
    putCredentials(join(root, 'a', '.svc'), 'http://nearer');
    expect(readConnection({ env: {}, cwd: below }).url).toBe('http://nearer');
  });

  it('reads only the named folder, and prefers the option to the variable', () => {
    putCredentials(join(root, 'one'), 'http://one');
    putCredentials(join(root, 'two'), 'http://two');
    const env = { SVC_DATA: 'one' };
    expect(readConnection({ env, cwd: root }).url).toBe('http://one');
    expect(readConnection({ env, cwd: root, data: 'two' }).url).toBe('http://two');
    expect(() => readConnection({ env: { SVC_DATA: 'none' }, cwd: root })).toThrow(
      /no credentials: no .*none/,
    );
  });

  it('prefers a folder that the command line names to variables with keys', () => {
    putCredentials(join(root, 'two'), 'http://two');
    const env = { SVC_PUBLIC_KEY: 'pk' };
    expect(readConnection({ env, cwd: root, data: 'two' }).url).toBe('http://two');
  });

  it('reads the address for operators separately from that for clients', () => {
    const env = {
      SVC_ADMIN_URL: 'http://inside:4502/',
      SVC_ADMIN_TOKEN: 'at earlier',
      SVC_URL: 'http://x',
    };
    const found = readOperatorConnection({ env, cwd: root });
    expect(found).toMatchObject({ url: 'http://inside:4502', urlSource: 'SVC_ADMIN_URL' });
    expect(found.token.reveal()).toBe('at');
    const { SVC_ADMIN_URL, SVC_URL, ...local } = env;
    const usual = readOperatorConnection({ env: local, cwd: root });
    expect(usual.url).toBe('http://127.0.0.1:4502');
    const meantForClients = { ...local, SVC_URL };
    expect(() => readOperatorConnection({ env: meantForClients, cwd: root })).toThrow(
      'SVC_URL is set, but SVC_ADMIN_URL is not',
    );
  });

  it("finds the operator's credentials of svc up in its data folder", () => {
    putCredentials(join(root, '.svc'), 'http://file');
    const secrets = join(root, '.svc', 'secrets.json');
    writeFileSync(secrets, '{"poolToken": "pt", "internalPort": 4713}');
    const found = readOperatorConnection({ env: {}, cwd: root });
    expect(found).toMatchObject({ url: 'http://127.0.0.1:4713', source: secrets });
    writeFileSync(secrets, '{"poolToken": "pt"}');
    expect(() => readOperatorConnection({ env: {}, cwd: root })).toThrow('internalPort');
  });

  it('explains how to name a data folder so that its credentials are found', () => {
    expect(wayToCredentials('/home/ada/.svc')).toContain('by itself');
    expect(wayToCredentials('/var/svc-data')).toContain('--data');
  });

  it('names a file that cannot be parsed', () => {
    mkdirSync(join(root, '.svc'));
    writeFileSync(join(root, '.svc', 'credentials.json'), '{"url": 1}');
    expect(() => readConnection({ env: {}, cwd: root })).toThrow('lacks url');
  });
});
