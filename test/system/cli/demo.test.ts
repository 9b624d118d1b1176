/** Tests `svc demo`: it passes on processes and on Docker, and leaves nothing when it is interrupted at any step. */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { type Svc, startSvc } from '#test/support/cli/svc.ts';
import { dockerAnswers } from '#test/support/programs/prepare-docker.ts';
import { processesNaming } from '#test/support/programs/processes.ts';
import { tier } from '#test/support/run/tier.ts';

const hasDocker = await dockerAnswers();
if (!hasDocker) console.info('the demo on Docker is not tested: no Docker engine answers');

const titles = [
  'Start PostgreSQL',
  'Wait until the pool',
  'Open a session',
  'Do the task',
  'Close the session, keep its host warm',
];

describe('svc demo', () => {
  // The first demo prepares the host's files here, which takes long; the others reuse them.
  const folder = mkdtempSync(join(tmpdir(), 'svc-test-demo-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  /**
   * Runs a demo with its own folder for temporary files; returns the files and processes that it
   * left.
   */
  const demonstrate = async (
    act: (demo: Svc, folders: () => string[]) => Promise<void>,
    runtime = 'process',
  ): Promise<string[]> => {
    const folders = () => readdirSync(folder).filter((name) => name.startsWith('svc-demo-'));
    await act(startSvc(['demo', '--runtime', runtime], { TMPDIR: folder }), folders);
    return [...folders(), ...processesNaming(folder).map(({ commandLine }) => commandLine)];
  };

  const passes = async (demo: Svc): Promise<void> => {
    const end = await demo.ended();
    expect(end).toMatchObject({ status: 0, err: '' });
    expect(end.out.match(/^ {5}✓/gm)).toHaveLength(10);
    expect(end.out).toContain('every step passed');
    expect(end.out).not.toContain('\u001b');
  };

  it('passes every step, and writes plain text without a terminal', async () => {
    expect(await demonstrate(passes)).toEqual([]);
  });

  it.skipIf(!hasDocker)('passes every step on Docker, with hosts in containers', async () => {
    expect(await demonstrate(passes, 'docker')).toEqual([]);
  });

  const interrupted = tier === 'full' ? titles : ['Open a session'];
  it.each(interrupted)('cleans up when it is interrupted at "%s"', async (title) => {
    const left = await demonstrate(async (demo, folders) => {
      await demo.prints(title);
      expect(folders()).toHaveLength(1);
      demo.signal('SIGINT');
      expect((await demo.ended()).status).toBe(130);
    });
    expect(left).toEqual([]);
  });
});
