/**
 * Runs the unchanged sender as a process of its own for tests, on an internet that the test made. The variable
 * `TEST_INTERNET` has the targets of names and addresses, and the trusted authority.
 */
import { connect } from 'node:net';
import { createLog } from '#runtime/log.ts';
import { runProgram } from '#runtime/run.ts';
import { say } from '#wire/program-lines/lines.ts';
import { readConfig } from '../../../src/sender/config.ts';
import { startSender } from '../../../src/sender/program.ts';

export type TestInternet = {
  ca: string;
  names: Record<string, string[]>;
  ports: Record<string, number>;
};

const start = async () => {
  const { TEST_INTERNET = '', ...env } = process.env;
  const { ca, names, ports } = JSON.parse(TEST_INTERNET) as TestInternet;
  const config = readConfig(env);
  const network = {
    ca,
    resolve: async (name: string) => names[name] ?? [],
    dial: (address: string) => connect({ host: '127.0.0.1', port: ports[address] ?? 1 }),
  };
  const sender = await startSender(config, network, createLog('sender', config.logLevel));
  say({ listening: sender.metricsAddresses });
  return sender;
};

await runProgram(start, { stopDeadlineMs: 30_000 });
