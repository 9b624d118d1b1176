import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findPython } from './python.ts';

describe('findPython', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'svc-python-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const command = (text: string): void => {
    writeFileSync(join(folder, 'python3'), `#!/bin/sh\n${text}\n`);
    chmodSync(join(folder, 'python3'), 0o755);
  };

  it('returns the program and the folders that it loads from', async () => {
    command('printf "/opt/bin/python3.12\\n/opt\\n/venv\\n"');
    expect(await findPython('python3', `${folder}:/usr/bin:/bin`)).toEqual({
      executable: '/opt/bin/python3.12',
      prefixes: ['/opt', '/venv'],
    });
  });

  it('returns nothing if the command is missing, or fails as a Python that is too old does', async () => {
    expect(await findPython('python3', folder)).toBeUndefined();
    command('exit 1');
    expect(await findPython('python3', folder)).toBeUndefined();
  });

  it('finds a Python whose own version is recent enough', async () => {
    const found = await findPython('python3', process.env.PATH ?? '');
    expect(found?.executable).toContain('python');
  });
});
