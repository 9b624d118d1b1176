/**
 * Tests `svc completion` in real shells: the candidates that each shell offers when Tab is pressed. Bash is always
 * present; zsh and fish are tested if installed.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCommandLine } from '../../../src/cli/program.ts';
import { testContext } from '../../support/cli/context.ts';

let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'svc-completion-'));
  writeFileSync(join(folder, 'a-file.json'), '');
  for (const shell of ['bash', 'zsh', 'fish']) {
    const context = testContext({});
    expect(await runCommandLine(['completion', shell], context)).toBe(0);
    writeFileSync(join(folder, `svc.${shell}`), context.written().out);
  }
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const run = (program: string, words: string[]): string => {
  const { stdout, stderr } = spawnSync(program, words, {
    cwd: folder,
    encoding: 'utf8',
    timeout: 60_000,
  });
  expect(stderr).toBe('');
  return stdout;
};

const isThere = (program: string): boolean => spawnSync(program, ['--version']).error === undefined;

/** Returns the candidates that bash offers at the end of a line. */
const byBash = (line: string): string[] => {
  const words = line.split(' ').map((word) => `'${word}'`);
  const script = `source svc.bash; COMP_WORDS=(${words.join(' ')}); COMP_CWORD=${words.length - 1}; _svc; printf '%s\\n' "\${COMPREPLY[@]}"`;
  return run('bash', ['-c', script]).split('\n').filter(Boolean);
};

const zshScript = fileURLToPath(new URL('../../support/cli/zsh/offers.zsh', import.meta.url));

/** Returns the candidates that zsh offers at the end of a line. */
const byZsh = (line: string): string[] =>
  run('zsh', ['-f', zshScript, line]).split('\n').filter(Boolean);

/** Returns the candidates that fish offers at the end of a line, without their descriptions. */
const byFish = (line: string): string[] =>
  run('fish', ['--no-config', '-c', `source svc.fish; complete -C ${JSON.stringify(line)}`])
    .split('\n')
    .filter(Boolean)
    .map((each) => each.split('\t')[0] ?? '');

const shells = [
  ['bash', byBash],
  ['zsh', byZsh],
  ['fish', byFish],
] as const;

describe.each(shells)('%s', (shell, offer) => {
  const its = isThere(shell) ? it : it.skip;

  its(
    `offers commands, options, and values that are one of some (skipped without ${shell})`,
    () => {
      expect(offer('svc data')).toEqual(['datasets']);
      expect(offer('svc datasets ').sort()).toEqual(
        expect.arrayContaining(['create', 'items', 'list']),
      );
      expect(offer('svc datasets items s')).toEqual(['show']);
      expect(offer('svc datasets items list folder/one --st')).toEqual(['--status']);
      expect(offer('svc datasets items list folder/one --status ').sort()).toEqual([
        'ACTIVE',
        'ARCHIVED',
      ]);
      expect(offer('svc files connectors create x --kind b')).toEqual(['bucket']);
      expect(offer('svc completion ').sort()).toEqual(['bash', 'fish', 'zsh']);
      expect(offer('svc --v')).toEqual(['--version']);
      expect(offer('svc datasets nothing-like-it')).toEqual([]);
    },
    120_000,
  );

  its(
    `leaves what may be anything to files (skipped without ${shell})`,
    () => {
      // Bash completes files itself when there are no candidates.
      const expected = shell === 'bash' ? [] : ['a-file.json'];
      expect(offer('svc files put a-f')).toEqual(expected);
    },
    120_000,
  );
});
