import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openLines } from './log.ts';

it('a log whose disk is full does not make callers fail, and reports the number of lost lines when there is space again', () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-log-'));
  const file = join(folder, 'log');
  const fd = openSync('/dev/full', 'w');
  try {
    const log = openLines(fd);
    for (let line = 1; line <= 300; line += 1) log.write(`line ${line}\n`);
    // The system reuses the lowest free descriptor, so the log now writes to a disk with free space.
    closeSync(fd);
    expect(openSync(file, 'a')).toBe(fd);
    log.write('after\n');
    log.write('later\n');
    const [report, ...lines] = readFileSync(file, 'utf8').trimEnd().split('\n');
    expect(JSON.parse(report ?? '')).toMatchObject({
      level: 'warn',
      msg: expect.stringContaining('300 lines of the log were lost: ENOSPC'),
    });
    expect(lines).toEqual(['after', 'later']);
  } finally {
    closeSync(fd);
    rmSync(folder, { recursive: true });
  }
});
