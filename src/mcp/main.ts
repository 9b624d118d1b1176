/** The `svc-mcp` command. Its standard output carries only the protocol; all text for people goes to standard error. */
import { fileURLToPath } from 'node:url';
import { describeError } from '#domain/error.ts';
import { makeLinesVisible } from '#domain/visible-text.ts';
import { readConfig } from './config.ts';
import { serve } from './program.ts';

const ownFile = fileURLToPath(new URL('../../bin/svc-mcp.mjs', import.meta.url));

const help = `svc-mcp serve

Serves the tools of a project to an MCP client, over standard input and output. A client starts it:

  "mcpServers": {
    "svc": {
      "command": "node", "args": [${JSON.stringify(ownFile)}, "serve"],
      "env": { "SVC_URL": "…", "SVC_PUBLIC_KEY": "pk-…", "SVC_SECRET_KEY": "sk-…" }
    }
  }

Environment:
  SVC_PUBLIC_KEY, SVC_SECRET_KEY   the key pair of a project; wins when a token is set as well
  SVC_API_TOKEN                    or a personal access token, pat_…
  SVC_PROJECT_ID                   the project that a token is used for; else each call names one of several
  SVC_URL                          the service; http://127.0.0.1:4500 unless set
`;

const note = (message: string): void =>
  void process.stderr.write(`svc-mcp: ${makeLinesVisible(message)}\n`);

const run = async (words: readonly string[]): Promise<number> => {
  const [command] = words;
  if (words.includes('--help') || words.includes('-h') || command === 'help') {
    process.stdout.write(help);
    return 0;
  }
  if (command !== 'serve' || words.length > 1) {
    process.stderr.write(`svc-mcp has only the command "serve"\n\n${help}`);
    return 2;
  }
  const stopping = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, () => stopping.abort());
  process.stdout.on('error', () => stopping.abort());
  const { stdin: input, stdout: output } = process;
  await serve(readConfig(process.env), { input, output, note, signal: stopping.signal });
  return 0;
};

try {
  process.exit(await run(process.argv.slice(2)));
} catch (error) {
  note(describeError(error));
  process.exit(1);
}
