/**
 * Output of `svc` reaches its reader in full, however long it is. A reader that leaves early is no error; output that
 * cannot be written is an error.
 */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const main = fileURLToPath(new URL('../../../src/cli/main.ts', import.meta.url));
const world = fileURLToPath(new URL('../../../src/templates/code-hosting', import.meta.url));
const describeWorld = '"$NODE" "$MAIN" worlds describe "$WORLD" --json';

/**
 * Runs a shell line and returns its output; `svc` there is `describeWorld`, and its status goes to
 * standard error.
 */
const inShell = (line: string) => {
  const env = { PATH: process.env.PATH ?? '', NODE: process.execPath, MAIN: main, WORLD: world };
  const text = `svc() { ${describeWorld}; echo "status $?" >&2; }; ${line}`;
  return spawnSync('sh', ['-c', text], { env, encoding: 'utf8', maxBuffer: 1_048_576 });
};

describe('the output of svc', () => {
  it('is complete in a pipe that cannot hold all of it at once', () => {
    const { stdout } = inShell('svc | cat');
    expect(stdout.length).toBeGreaterThan(2 * 65_536);
    expect(JSON.parse(stdout)).toHaveProperty('entities');
  });

  it('can be left unread without an error', () => {
    const { stdout, stderr } = inShell('svc | head -n 1');
    expect(stdout).toBe('{\n');
    expect(stderr).toBe('status 0\n');
  });

  it('can be left unread, and a command without a verdict still fails', () => {
    const env = { PATH: process.env.PATH ?? '', NODE: process.execPath, MAIN: main };
    for (const words of ['release gate bld-1', 'release gate --nonsense', 'worlds test crm']) {
      const line = `{ "$NODE" "$MAIN" ${words} 2>&1; echo "status $?" >&3; } | true`;
      const { output } = spawnSync('sh', ['-c', line], {
        ...{ env, cwd: '/', encoding: 'utf8' },
        stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
      });
      expect(output[3], words).toBe('status 1\n');
    }
  });

  it('is reported as lost when it cannot be written', () => {
    const { stderr } = inShell('svc >/dev/full');
    expect(stderr).toMatch(/^error: cannot write the output: ENOSPC.*\nstatus 1\n$/);
  });
});
