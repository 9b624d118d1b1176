/** What a browser program is told by its environment. */
import { X509Certificate } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Env, type EnvReader, readEnv } from '#runtime/env.ts';
import { type ListenAddress, parseAddress } from '#runtime/listen.ts';
import type { LogLevel } from '#runtime/log.ts';
import { type SandboxChoice, sandboxChoices } from './life/state.ts';

export type BrowserConfig = {
  /** The program of Chromium; absent: where this machine usually has it. */
  chromium?: string;
  /** The certificate, in PEM, of an authority that pages' addresses are vouched for by, besides those that all know. */
  authority?: string;
  /** Where DevTools and the live view are served; port 0 takes any. */
  listen: ListenAddress;
  /** A folder that the program makes, fills and removes. */
  workDir: string;
  /** The page's size at first, in CSS pixels. */
  window: { width: number; height: number };
  /** Whether pages run in Chromium's own sandbox; `auto`: where the machine lets them. */
  sandbox: SandboxChoice;
  /** Whether another Chromium stands ready while one serves a session. */
  hasSpare: boolean;
  /** How long after a change a checkpoint is taken. */
  checkpointMs: number;
  /** Clients and viewers that may be connected at once. */
  mostConnections: number;
  logLevel: LogLevel;
};

const readAuthority = (read: EnvReader): string | undefined => {
  const pem = read.optionalText('SVC_AUTHORITY');
  if (pem === undefined) return undefined;
  try {
    return new X509Certificate(pem).toString();
  } catch {
    read.refuse('SVC_AUTHORITY is no certificate in PEM');
    return undefined;
  }
};

/** Reads it. Throws `invalid` naming every mistake. */
export const readConfig = (env: Env, pid: number = process.pid): BrowserConfig => {
  const read = readEnv(env);
  const listen = read.text('SVC_LISTEN', '127.0.0.1:0');
  const address = parseAddress(listen);
  if (address === undefined) read.refuse(`SVC_LISTEN is "${listen}", not host:port`);
  const chromium = read.optionalText('SVC_CHROMIUM');
  const authority = readAuthority(read);
  const config: BrowserConfig = {
    ...(chromium === undefined ? {} : { chromium }),
    ...(authority === undefined ? {} : { authority }),
    listen: address ?? { host: '', port: 0 },
    workDir: read.text('SVC_WORK_DIR', join(tmpdir(), `svc-browser-${pid}`)),
    window: {
      width: read.integer('SVC_WINDOW_WIDTH', { min: 240, max: 3_840, fallback: 1_280 }),
      height: read.integer('SVC_WINDOW_HEIGHT', { min: 160, max: 2_160, fallback: 800 }),
    },
    sandbox: read.choice('SVC_BROWSER_SANDBOX', sandboxChoices, 'auto'),
    hasSpare: read.choice('SVC_BROWSER_SPARE', ['yes', 'no'], 'no') === 'yes',
    checkpointMs: read.integer('SVC_CHECKPOINT_MS', { min: 50, max: 5_000, fallback: 1_000 }),
    mostConnections: read.integer('SVC_BROWSER_CONNECTIONS', { min: 1, max: 100, fallback: 16 }),
    logLevel: read.choice('SVC_LOG_LEVEL', ['debug', 'info', 'warn', 'error', 'silent'], 'info'),
  };
  read.finish();
  return config;
};
