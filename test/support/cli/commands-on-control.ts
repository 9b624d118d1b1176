/** Runs command lines of `svc` in the test's own process, on a control plane of its own, with a working folder. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { TreeFile } from '#domain/world.ts';
import { runCommandLine } from '../../../src/cli/program.ts';
import type { ControlConfig } from '../../../src/control/config.ts';
import type { TestControl } from '../control/control.ts';
import { testContext } from './context.ts';

export type Ran = { status: number; out: string; err: string };

export type Desk = {
  folder: string;
  /** Writes files below the folder. */
  write(folder: string, files: readonly TreeFile[]): void;
  /** Runs a command line, split at blanks. */
  svc(words: string): Promise<Ran>;
  clear(): void;
};

/** Returns the key pair of the organization, from its `Authorization` header. */
const accountEnv = (authorization: string): Record<string, string> => {
  const pair = Buffer.from(authorization.replace('Basic ', ''), 'base64').toString();
  const [publicKey = '', secretKey = ''] = pair.split(':');
  return { SVC_ORGANIZATION_PUBLIC_KEY: publicKey, SVC_ORGANIZATION_SECRET_KEY: secretKey };
};

/** Creates the runner of command lines. */
export const createDesk = (control: TestControl & { config?: ControlConfig }): Desk => {
  const { running, publicKey, secretKey, accountAuthorization } = control;
  const folder = mkdtempSync(join(tmpdir(), 'svc-desk-'));
  const env = {
    SVC_URL: running.addresses.public[0] ?? '',
    SVC_PUBLIC_KEY: publicKey,
    SVC_SECRET_KEY: secretKey,
    ...accountEnv(accountAuthorization),
    SVC_ADMIN_URL: running.addresses.internal[0] ?? '',
    SVC_ADMIN_TOKEN: control.config?.poolToken.reveal() ?? '',
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
