/** `svc demo` on the process runtime: it ends well, and interrupted anywhere it leaves nothing. */
import { readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { describe, expect, it } from 'vitest';
import { processesNaming } from '#test/support/processes.ts';
import { startSvc } from '#test/support/svc.ts';

const folders = (): string[] =>
  readdirSync(tmpdir()).filter((name) => name.startsWith('svc-demo-'));

describe('svc demo', () => {
  it('holds every step, in plain text where nobody watches', async () => {
    const before = folders();
    const end = await startSvc(['demo', '--runtime', 'process']).ended();
    expect(end).toMatchObject({ status: 0, err: '' });
    expect(end.out.match(/^ {5}✓/gm)).toHaveLength(10);
    expect(end.out).toContain('every step held');
    expect(end.out).not.toContain('\u001b');
    expect(folders()).toEqual(before);
  });

  it.each([
    'Start PostgreSQL',
    'Wait until the pool',
    'Open a session',
    'Do the task',
    'Close, keep the host warm',
  ])('cleans up when it is interrupted at "%s"', async (title) => {
    const before = folders();
    const demo = startSvc(['demo', '--runtime', 'process']);
    await demo.prints(title);
    const data = /svc-demo-\w+/.exec(folders().find((name) => !before.includes(name)) ?? '')?.[0];
    demo.signal('SIGINT');
    const end = await demo.ended();
    expect(end.status).toBe(130);
    expect(end.tookMs).toBeLessThan(8_000);
    expect(folders()).toEqual(before);
    expect(processesNaming(data ?? 'svc-demo-')).toEqual([]);
  });
});
