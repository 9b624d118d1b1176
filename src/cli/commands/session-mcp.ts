/**
 * `svc worlds session mcp`: serves the tools of a session to an MCP client that starts a program and uses its standard
 * streams.
 */
import { Readable, Writable } from 'node:stream';
import type { Command } from 'commander';
import { AppError } from '#domain/error.ts';
import { trustAuthorityFile } from '#runtime/trust.ts';
import { basicAuthorization } from '#wire/client.ts';
import { readConnection } from '../service/connection.ts';
import type { Context } from '../terminal/context.ts';
import { listenForStop } from '../terminal/stopping.ts';
import { addCommand, type ServiceOptions, withData } from './command.ts';

/** Returns standard output as a stream. Only messages of the protocol are written to it. */
const writableOf = ({ out }: Context): Writable =>
  new Writable({
    write(chunk: Buffer, _, done) {
      out.writeExactly(chunk.toString('utf8'));
      out.drained().then(() => done(), done);
    },
  });

const run = async (
  context: Context,
  sessionId: string,
  { data }: ServiceOptions,
): Promise<void> => {
  const connection = readConnection({ env: context.env, cwd: context.cwd, data });
  const { url, publicKey, secretKey, caFile } = connection;
  if (caFile !== undefined) trustAuthorityFile(caFile);
  if (secretKey === undefined) {
    throw new AppError(
      'forbidden',
      `tools need the secret key of ${publicKey}: set SVC_SECRET_KEY`,
    );
  }
  // The SDK is slow to load, and no other command needs it.
  const { relayStdio } = await import('#wire/mcp-relay.ts');
  const address = `${url}/api/public/world-sessions/${encodeURIComponent(sessionId)}/mcp`;
  const stopping = listenForStop();
  try {
    await relayStdio({
      input: Readable.from(context.stdin(), { objectMode: false }),
      output: writableOf(context),
      authorization: basicAuthorization(publicKey, secretKey.reveal()),
      direct: async (message) => ({ address, message }),
      note: (message) => context.err.write(`${message}\n`),
      signal: stopping.signal,
    });
  } finally {
    stopping.release();
  }
};

export const addSessionMcp = (sessions: Command, context: Context): void => {
  const command = addCommand(sessions, {
    usage: 'mcp <session>',
    summary: 'serve the tools of a session to an MCP client, over standard input and output',
    example:
      'svc worlds session mcp ses-…    # as the command of a client; what else it says is on standard error',
  });
  withData(command).action((sessionId: string, options: ServiceOptions) =>
    run(context, sessionId, options),
  );
};
