/** Tests the archives that are stored in the repository: later releases grade each export to the same bytes. */
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createLog } from '#runtime/log.ts';
import { createOwnLoader } from '../folder/loader.ts';
import { readArchive } from './archive.ts';
import { regrade } from './regrade.ts';

const kept = fileURLToPath(new URL('../../test/support/archives/', import.meta.url));
const names = await readdir(kept);

let workDir: string;
beforeAll(async () => {
  workDir = await mkdtemp(join(tmpdir(), 'svc-regrade-'));
});
afterAll(() => rm(workDir, { recursive: true, force: true }));

it.each(names)(
  'a session in the archive %s gets a grade with the same bytes when it is graded again',
  async (name) => {
    const archive = await readArchive(join(kept, name), join(workDir, name));
    const worlds = createOwnLoader({
      config: { python: 'python3', searchPath: process.env.PATH ?? '', boundary: 'auto', workDir },
      fetchBlob: archive.blob,
      log: createLog('test', 'silent'),
    });
    const grade = await regrade(archive, worlds);
    await worlds.stop();
    expect(JSON.parse(grade)).toMatchObject({ verdict: 'pass' });
    expect(grade).toBe(archive.grade);
  },
);
