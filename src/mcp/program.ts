/**
 * Implements `svc-mcp serve`: the MCP server of the service for clients that start a program and use its standard
 * input and output. It first checks its credentials, so that wrong ones are reported at the start, on standard error.
 */
import type { Readable, Writable } from 'node:stream';
import { AppError } from '#domain/error.ts';
import { basicAuthorization, createClient } from '#wire/client.ts';
import { type RelayOptions, relayStdio } from '#wire/mcp-relay.ts';
import { describeProject } from '#wire/public-api/projects/project-operations.ts';
import type { McpConfig } from './config.ts';
import { directorOf, linesOf, listProjects, withProjectArgument } from './projects.ts';

export type ServeOptions = {
  input: Readable;
  output: Writable;
  note(message: string): void;
  signal: AbortSignal;
};

type Way = Pick<RelayOptions, 'authorization' | 'direct' | 'adapt'>;

const byKeys = async (
  { url }: McpConfig,
  { publicKey, secretKey }: Extract<McpConfig['mode'], { kind: 'keys' }>,
  note: ServeOptions['note'],
): Promise<Way> => {
  const authorization = basicAuthorization(publicKey, secretKey.reveal());
  const client = createClient({ baseUrl: `${url}/api/public`, authorization });
  const { body: project } = await client.send(describeProject, {});
  note(`serving the project ${project.id} (${project.name}) of ${url}, by the key ${publicKey}`);
  const address = `${url}/api/public/mcp`;
  return { authorization, direct: async (message) => ({ address, message }) };
};

const byToken = async (
  { url }: McpConfig,
  { token, projectId }: Extract<McpConfig['mode'], { kind: 'token' }>,
  note: ServeOptions['note'],
): Promise<Way> => {
  const authorization = `Bearer ${token.reveal()}`;
  const projects = await listProjects({ url, authorization });
  if (projects.length === 0) throw new AppError('forbidden', 'the token reaches no project');
  note(`the token reaches ${projects.length} of the projects of ${url}:`);
  for (const line of linesOf(projects)) note(line);
  const isOne = projectId !== undefined || projects.length === 1;
  note(
    isOne
      ? `calls use the project ${projectId ?? projects[0]?.id}`
      : 'each call must name its project as "project_id"',
  );
  return {
    authorization,
    direct: directorOf({ url, authorization, projectId }),
    ...(projects.length === 1 ? {} : { adapt: withProjectArgument(!isOne) }),
  };
};

/** Serves until the client has closed its input. Throws if the service cannot be reached or refuses the credentials. */
export const serve = async (
  config: McpConfig,
  { input, output, note, signal }: ServeOptions,
): Promise<void> => {
  for (const line of config.notes) note(line);
  const { mode } = config;
  const way =
    mode.kind === 'keys' ? await byKeys(config, mode, note) : await byToken(config, mode, note);
  await relayStdio({ ...way, input, output, note, signal });
};
