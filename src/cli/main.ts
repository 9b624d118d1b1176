/** The `svc` command: runs a command line with the streams of this process, and exits with its status. */
import { once } from 'node:events';
import { runCommandLine } from './program.ts';
import { createContext, type Stream } from './terminal/context.ts';
import { exitStatus } from './views/report.ts';

const columnsElsewhere = 100;

let statusOfResult: number = exitStatus.done;

/**
 * Ends the command when the reader of its output has closed the pipe (`svc … | head`). That is not a failure, so the
 * exit status is the one set so far.
 */
const endUnwritten = (error: NodeJS.ErrnoException): never => {
  if (error.code === 'EPIPE') process.exit(statusOfResult);
  process.stderr.write(`error: cannot write the output: ${error.message}\n`);
  process.exit(exitStatus.failed);
};

const streamOf = (stream: NodeJS.WriteStream): Stream => {
  stream.on('error', endUnwritten);
  return {
    write: (text) => void stream.write(text),
    async drained() {
      if (stream.writableNeedDrain) await once(stream, 'drain');
    },
    isTerminal: stream.isTTY === true,
    get columns() {
      return stream.columns || columnsElsewhere; // some terminals report 0
    },
  };
};

const readStdin = async (): Promise<Buffer> => {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
};

/** Resolves once all output has left the process. An earlier exit would discard what a pipe has not accepted yet. */
const flush = (stream: NodeJS.WriteStream): Promise<void> =>
  new Promise((resolve) => void stream.write('', () => resolve()));

const status = await runCommandLine(
  process.argv.slice(2),
  createContext({
    env: process.env,
    cwd: process.cwd(),
    out: streamOf(process.stdout),
    err: streamOf(process.stderr),
    readStdin,
    stdin: () => process.stdin,
    setExitStatus: (given) => {
      statusOfResult = given;
    },
  }),
);
await Promise.all([process.stdout, process.stderr].map(flush));
process.exit(status === exitStatus.done ? statusOfResult : status);
