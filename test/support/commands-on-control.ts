/** Command lines of `svc`, run in the test's own process on a control plane of its own, with a folder to work in. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { TreeFile } from '#domain/world.ts';
import { runCommandLine } from '../../src/cli/program.ts';
import { testContext } from './cli-context.ts';
import type { TestControl } from './control.ts';

export type Ran = { status: number; out: string; err: string };

export type Desk = {
  folder: string;
  /** Writes files below the folder. */
  write(folder: string, files: readonly TreeFile[]): void;
  /** Runs a command line, its words parted by blanks. */
  svc(words: string): Promise<Ran>;
  clear(): void;
};

/** Makes it. */
export const createDesk = ({ running, publicKey, secretKey }: TestControl): Desk => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-desk-'));
  const env = {
    SVC_URL: running.addresses.public[0] ?? '',
    SVC_PUBLIC_KEY: publicKey,
    SVC_SECRET_KEY: secretKey,
  };
  return {
    folder,
    write(below, files) {
      for (const { path, content } of files) {
        const target = join(folder, below, path);
        mkdirSync(dirname(target), { recursive: true });
        writeFileSync(target, content);
      }
    },
    async svc(words) {
      const context = testContext({ env, cwd: folder });
      const status = await runCommandLine(words.split(' '), context);
      return { status: status === 0 ? context.status() : status, ...context.written() };
    },
    clear: () => rmSync(folder, { recursive: true, force: true }),
  };
};
