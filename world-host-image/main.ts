/**
 * Entry point of a world host, which serves one session of one world at a time. Its command line only contains labels
 * for people who list processes. Its configuration comes from the environment, its token from a file or standard input
 * (src/hosting/token.ts).
 *
 * The workers for user code start even before the rest of the program is loaded. They take longest to start, and the
 * time until a host is warm determines how large a pool has to be.
 */
import { rm } from 'node:fs/promises';
import type { HostIdentity } from '#hosting/link.ts';
import { readToken } from '#hosting/token.ts';
import { createLog } from '#runtime/log.ts';
import { type Running, runProgram } from '#runtime/run.ts';
import { codeDirectory, readConfig } from './config.ts';
import { startUserCode } from './usercode/runner.ts';

/** Time in milliseconds that a running call has to end and be answered after the host was ordered to stop. */
const stopDeadlineMs = 10_000;

const start = async (): Promise<Running> => {
  const config = readConfig(process.env);
  const { hostId, generation, logLevel } = config;
  const identity: HostIdentity = { hostId, generation };
  const about = () => ({ sessionId: identity.sessionId });
  const log = createLog('world-host', logLevel, about).child({ hostId });
  await rm(config.workDir, { recursive: true, force: true, maxRetries: 5 });
  const { python, searchPath } = config;
  const { boundary, memoryMb } = config.userCode;
  const userCode = startUserCode({
    python,
    searchPath,
    boundary,
    limits: { memoryMb },
    workDir: codeDirectory(config),
    log,
  });
  userCode.catch(() => undefined); // startHost awaits it and receives the failure
  const [token, { startHost }] = await Promise.all([
    readToken(config.tokenFile),
    import('./program.ts'),
  ]);
  return startHost({ config, token, log, identity, userCode });
};

await runProgram(start, { stopDeadlineMs });
