/**
 * A world drafted from a HAR file serves by commands alone; the page about OpenAPI documents is
 * correct.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import type { ConformReport } from '#mirror/conform/conform.ts';
import { readTree } from '#runtime/tree.ts';
import { runSvc } from '../../support/cli/svc.ts';
import { startStandInVendor } from '../../support/worlds/stand-in-vendor.ts';

const repo = fileURLToPath(new URL('../../../', import.meta.url));
const documents = join(repo, 'test/support/worlds/api-documents');
const home = mkdtempSync(join(tmpdir(), 'svc-draft-'));
afterAll(() => rmSync(home, { recursive: true, force: true }));

const canary = 'canary-credential-4711';

/** Writes a HAR file like a browser's, of visits to the stand-in vendor. */
const writeHar = async (path: string): Promise<void> => {
  const vendor = await startStandInVendor({ scheme: 'bearer', secret: canary, echo: true });
  const looks = [
    '/boards',
    '/boards/1/cards',
    '/boards/2/cards',
    '/cards/1001',
    '/cards/2003',
    '/nothing',
  ];
  const entries = [];
  for (const look of looks) {
    const url = vendor.url + look;
    const answer = await fetch(url, { headers: { authorization: `Bearer ${canary}` } });
    entries.push({
      startedDateTime: '2026-01-01T00:00:00Z',
      request: {
        method: 'GET',
        url,
        headers: [{ name: 'Authorization', value: `Bearer ${canary}` }],
      },
      response: {
        status: answer.status,
        headers: [...answer.headers].map(([name, value]) => ({ name, value })),
        content: { text: await answer.text() },
      },
    });
  }
  await vendor.stop();
  writeFileSync(path, JSON.stringify({ log: { entries } }));
};

describe('a draft', () => {
  it('of a HAR file serves its routes as its contract says, and contains no credential', async () => {
    const source = join(home, 'board.har');
    await writeHar(source);
    const folder = join(home, 'of-board');
    const drafted = await runSvc(['worlds', 'connector', 'draft', source, folder, '--json']);
    expect(drafted.status, drafted.err).toBe(0);
    const asked = await runSvc(['worlds', 'connector', 'conform', folder, '--json']);
    expect(asked.status, asked.out + asked.err).toBe(0);
    const report = JSON.parse(asked.out) as ConformReport;
    expect(report.routes).toHaveLength(3);
    expect(report.fidelity).toBe(100);
    const texts = readTree(folder).map(({ content }) => Buffer.from(content).toString());
    expect(texts.join('\n')).not.toContain(canary);
  });
});

describe('the page about OpenAPI documents', () => {
  it('has commands that produce a world with rows and a task', async () => {
    const folder = join(home, 'page');
    const bin = join(home, 'bin');
    for (const made of [folder, bin]) mkdirSync(made);
    writeFileSync(
      join(bin, 'svc'),
      `#!/bin/sh\nexec "${process.execPath}" "${repo}src/cli/main.ts" "$@"\n`,
    );
    chmodSync(join(bin, 'svc'), 0o755);
    copyFileSync(join(documents, 'helpdesk.yaml'), join(folder, 'openapi.yaml'));
    const page = readFileSync(join(repo, 'docs/write-worlds/from-an-openapi-document.md'), 'utf8');
    const commands = [...page.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, block]) => block);
    expect(commands.length).toBeGreaterThan(4);
    const shell = spawn('sh', ['-eu'], {
      cwd: folder,
      env: { ...process.env, PATH: `${bin}:${process.env.PATH}` },
    });
    shell.stdin.end(commands.join('\n'));
    const [out, err] = await Promise.all([
      text(shell.stdout),
      text(shell.stderr),
      once(shell, 'close'),
    ]);
    expect(shell.exitCode, out + err).toBe(0);
    expect(out).toContain('points to decide');
    expect(out).toContain('fidelity 100 %');
    expect(err).toContain('read 4, rows 4, unknown fields 4');
    const runtime = JSON.parse(readFileSync(join(folder, 'desk/schema/runtime.json'), 'utf8'));
    expect(runtime.tasks).toMatchObject([{ name: 'solve-duplicate' }]);
    expect(JSON.parse(readFileSync(join(folder, 'desk/data/tickets.json'), 'utf8'))).toHaveLength(
      4,
    );
  });
});
