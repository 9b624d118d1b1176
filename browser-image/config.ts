/** Reads the browser program's configuration from its environment variables. */
import { X509Certificate } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Env, type EnvReader, readEnv } from '#runtime/env.ts';
import { type ListenAddress, parseAddress } from '#runtime/listen.ts';
import type { LogLevel } from '#runtime/log.ts';
import { type SandboxChoice, sandboxChoices } from './life/state.ts';

export type BrowserConfig = {
  /** Path of the Chromium program; when absent, the usual places of this machine are searched. */
  chromium?: string;
  /** Certificate, in PEM, of a certificate authority for the surfaces, trusted in addition to the public ones. */
  authority?: string;
  /** Address at which DevTools and the live view are served; port 0 takes any free port. */
  listen: ListenAddress;
  /** Working folder, which the program creates, fills and removes. */
  workDir: string;
  /** Initial size of the page, in CSS pixels. */
  window: { width: number; height: number };
  /** Choice of Chromium's own sandbox for pages; `auto` uses it if the machine supports it. */
  sandbox: SandboxChoice;
  /** True to keep another Chromium warm while one serves a session. */
  hasSpare: boolean;
  /** Delay between a change and the checkpoint that covers it, in milliseconds. */
  checkpointMs: number;
  /** Maximum number of clients and viewers connected at once. */
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

/** Reads the configuration. Throws `invalid` naming every mistake. */
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
