/**
 * Entry point of the sender process. Once the sender claims deliveries, it prints one JSON line: `{"listening":[]}`.
 */

import { dialTcp } from '#egress/connect.ts';
import { resolveByDns } from '#egress/resolve.ts';
import { createLog } from '#runtime/log.ts';
import { runProgram } from '#runtime/run.ts';
import { say } from '#wire/program-lines/lines.ts';
import { readConfig } from './config.ts';
import { startSender } from './program.ts';

const start = async () => {
  const config = readConfig(process.env);
  const network = { resolve: resolveByDns, dial: dialTcp };
  const sender = await startSender(config, network, createLog('sender', config.logLevel));
  say({ listening: [] });
  return sender;
};

await runProgram(start, { stopDeadlineMs: 30_000 });
