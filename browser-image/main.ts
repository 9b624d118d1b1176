/**
 * Entry point of the browser program: one Chromium for one session at a time. If the environment names a control
 * plane, the program is a host of the service (control/agent.ts). Otherwise the process that started it drives it by
 * lines on standard input (control/lines.ts), and the program prints its address on standard output.
 */
import type { HostIdentity } from '#hosting/link.ts';
import { readToken } from '#hosting/token.ts';
import { createLog } from '#runtime/log.ts';
import { type Running, runProgram } from '#runtime/run.ts';
import { type BrowserConfig, readConfig } from './config.ts';
import { startAgent } from './control/agent.ts';
import { type HostConfig, readHostConfig } from './control/host-config.ts';
import { serveLines } from './control/lines.ts';
import { startBrowserProgram } from './program.ts';

const stopDeadlineMs = 10_000;

const say = (line: Record<string, unknown>): void => {
  process.stdout.write(`${JSON.stringify(line)}\n`);
};

const startByLines = async (config: BrowserConfig): Promise<Running> => {
  const program = await startBrowserProgram({
    config,
    log: createLog('browser', config.logLevel),
    onEvent: (event) => say({ event }),
    onCheckpoint: (checkpoint) => say({ checkpoint }),
  });
  say({ listening: [program.address] });
  const ended = serveLines({ program, input: process.stdin, say });
  return { ended, stop: () => program.stop() };
};

const startHost = async (config: BrowserConfig, host: HostConfig): Promise<Running> => {
  const { hostId, generation } = host;
  const identity: HostIdentity = { hostId, generation };
  const about = () => ({ sessionId: identity.sessionId });
  const log = createLog('browser', config.logLevel, about).child({ hostId });
  return startAgent({ config, host, identity, log, token: await readToken(host.tokenFile) });
};

const start = (): Promise<Running> => {
  const config = readConfig(process.env);
  const host = readHostConfig(process.env);
  return host === undefined ? startByLines(config) : startHost(config, host);
};

await runProgram(start, { stopDeadlineMs });
