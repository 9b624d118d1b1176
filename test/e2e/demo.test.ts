/** `svc demo` on the process runtime: it ends well, and interrupted anywhere it leaves nothing. */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { processesNaming } from '#test/support/processes.ts';
import { type Svc, startSvc } from '#test/support/svc.ts';

describe('svc demo', () => {
  // The first one lays out the host here, which takes long; the others find it.
  const folder = mkdtempSync(join(tmpdir(), 'svc-test-demo-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  /** Runs a demo that has a folder for what it keeps; answers what it has left there. */
  const demonstrate = async (
    act: (demo: Svc, folders: () => string[]) => Promise<void>,
  ): Promise<string[]> => {
    const folders = () => readdirSync(folder).filter((name) => name.startsWith('svc-demo-'));
    await act(startSvc(['demo', '--runtime', 'process'], { TMPDIR: folder }), folders);
    return [...folders(), ...processesNaming(folder).map(({ commandLine }) => commandLine)];
  };

  it('passes every step, and writes plain text where no terminal is', async () => {
    const left = await demonstrate(async (demo) => {
      const end = await demo.ended();
      expect(end).toMatchObject({ status: 0, err: '' });
      expect(end.out.match(/^ {5}✓/gm)).toHaveLength(10);
      expect(end.out).toContain('every step held');
      expect(end.out).not.toContain('\u001b');
    });
    expect(left).toEqual([]);
  });

  it.each([
    'Start PostgreSQL',
    'Wait until the pool',
    'Open a session',
    'Do the task',
    'Close, keep the host warm',
  ])('cleans up when it is interrupted at "%s"', async (title) => {
    const left = await demonstrate(async (demo, folders) => {
      await demo.prints(title);
      expect(folders()).toHaveLength(1);
      demo.signal('SIGINT');
      expect((await demo.ended()).status).toBe(130);
    });
    expect(left).toEqual([]);
  });
});
