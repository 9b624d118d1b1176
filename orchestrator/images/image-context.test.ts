/** Tests the host's bundle as the image gets it: it starts, and its stack traces refer to the sources. */
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { layOutImage } from './image-context.ts';
import { readImageInputs } from './image-inputs.ts';

const root = join(import.meta.dirname, '../..');
const run = promisify(execFile);
const node = (args: string[]) => run(process.execPath, args, { env: {} });

let folder: string;
let host: string;

beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'svc-image-context-')));
  host = join(folder, 'world-host-image');
  await layOutImage(root, await readImageInputs(root, undefined), folder);
}, 60_000);
afterAll(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));

describe('the build context of an image', () => {
  it('has the sources and no tests', async () => {
    expect(await readdir(host)).toEqual(
      expect.arrayContaining(['main.ts', 'main.mjs', 'usercode']),
    );
    const files = await readdir(folder, { recursive: true });
    expect(
      files.filter((file) => !file.startsWith('node_modules') && /\.test\./.test(file)),
    ).toEqual([]);
  });

  it('starts like the sources, and reports what is missing', async () => {
    const says = (file: string) =>
      node([join(host, file)]).catch(({ code, stderr }) => ({ code, stderr }));
    const said = await says('main.mjs');
    expect(said).toMatchObject({ code: 1, stderr: expect.stringContaining('SVC_CONTROL_URL') });
    expect(said).toEqual(await says('main.ts'));
  });

  it('has source maps, so that stack traces name the sources', async () => {
    const fail = `
      const { startHost } = await import(${JSON.stringify(join(host, 'program.mjs'))});
      await startHost({}).catch((error) => console.log(error.stack));`;
    const traces = join(host, 'stack-traces.ts');
    const { stdout } = await node(['--import', traces, '--input-type=module', '--eval', fail]);
    const [message, first] = stdout.split('\n');
    expect(message).toMatch(/^TypeError: /);
    expect(first).toContain(`at startHost (${join(host, 'program.ts')}:`);
  });
});
