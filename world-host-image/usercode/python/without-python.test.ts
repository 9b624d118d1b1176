/** Tests a host on a machine without Python: which user code it runs, and how it refuses other user code. */
import { createHash } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Digest, TreeFile } from '#domain/world.ts';
import { encodeBundle, selectUserCode } from '#language/artifacts/bundle.ts';
import { compileTree } from '#language/compile/compile.ts';
import { initTree } from '#language/edit/init.ts';
import { buildSnapshot } from '#store/snapshot.ts';
import {
  createHeardLog,
  createMemoryStore,
  makeFolder,
  writeFiles,
} from '#test/support/host/user-code.ts';
import { notesWorld } from '#test/support/worlds/worlds.ts';
import { WorldLoader } from '../../session/load-world.ts';
import type { RunRequest } from '../run.ts';
import { startUserCode, type UserCode } from '../runner.ts';
import { noPython } from './python.ts';

const python = '/nonexistent/python3';
const refusal = { ok: false, error: { code: 'load_failed', message: noPython } };

let folder: ReturnType<typeof makeFolder>;
let code: UserCode;
let heard: ReturnType<typeof createHeardLog>;

beforeEach(async () => {
  folder = makeFolder();
  heard = createHeardLog();
  code = await startUserCode({ python, workDir: folder.path, log: heard.log });
});
afterEach(async () => {
  await code.stop();
  folder.remove();
});

const request = (language: 'python' | 'typescript', file: string): RunRequest => ({
  language,
  file,
  function: 'twice',
  as: 'tool',
  input: { n: 21 },
  access: createMemoryStore().access,
  timeoutMs: 5_000,
});

describe('user code without Python', () => {
  it('runs TypeScript, and warns that no sandbox surrounds its process', async () => {
    const directory = `${folder.path}/code`;
    writeFiles(directory, {
      'tools.ts': 'export const twice = ({ n }: { n: number }) => 2 * n;',
    });
    await code.load(directory);
    expect(await code.run(request('typescript', 'tools.ts'))).toMatchObject({ value: 42 });
    const said = heard.entries.map(({ message }) => String(message)).join('\n');
    expect(said).toContain('this host has no Python 3.11 or later');
    expect(said).toContain('the sandbox of user code is incomplete on this system');
  });

  it('refuses tools, graders and tests in Python with the reason that there is no Python', async () => {
    expect(await code.run(request('python', 'tools.py'))).toEqual(refusal);
    for (const apart of [code.startGrader(), code.startTester('python', [])]) {
      expect(await apart.run(request('python', 'checks/verify.py'))).toEqual(refusal);
      await apart.end();
    }
  });

  it('is refused at the start of the host if the sandbox is required', async () => {
    const start = startUserCode({
      python,
      workDir: folder.path,
      log: heard.log,
      boundary: 'require',
    });
    await expect(start).rejects.toThrow(`"${python}" does not run Python`);
  });
});

describe('a world on a host without Python', () => {
  const digestOf = (bytes: Uint8Array): Digest =>
    `sha256:${createHash('sha256').update(bytes).digest('hex')}`;

  const load = async (tree: readonly TreeFile[]) => {
    const compiled = compileTree(tree);
    if (!compiled.ok) throw new Error(JSON.stringify(compiled.problems));
    const { contract, baseRows } = compiled;
    const bundle = encodeBundle({ contract, files: selectUserCode(contract, tree) });
    const snapshot = buildSnapshot(contract, baseRows).bytes;
    const blobs = new Map([bundle, snapshot].map((bytes) => [digestOf(bytes), bytes]));
    const fetchBlob = async (digest: Digest) => blobs.get(digest) ?? new Uint8Array();
    const worlds = new WorldLoader({
      fetchBlob,
      readBlob: fetchBlob,
      openFiles: () => Promise.reject(new Error('the world is small')),
      userCode: code,
      workDir: folder.path,
      startUserCode: () => Promise.reject(new Error('the world has no links')),
    });
    const version = { bundle: digestOf(bundle), snapshot: digestOf(snapshot), blobs: {} };
    const { contract: loaded } = await worlds.load(version);
    await worlds.release();
    return loaded.name;
  };

  it('is not loaded if it has code in Python, and the error names the file', async () => {
    await expect(load(notesWorld())).rejects.toThrow(`tools.py cannot run: ${noPython}`);
  });

  it('is loaded if it has code in TypeScript only', async () => {
    expect(await load(initTree({ name: 'Billing', api: true }))).toBe('Billing');
  });
});
