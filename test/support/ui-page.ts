/**
 * Serves a world with its generated page at an origin of its own, with the world's API below the page's path and
 * rows from the host, for tests of the page in a browser. Whoever asks is let in.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TreeFile } from '#domain/world.ts';
import { generatePage } from '#language/artifacts/page.ts';
import { describeRequest } from '../../world-host-image/api/requests/incoming.ts';
import { answerRows, rowsPrefix } from '../../world-host-image/ui/rows/answer.ts';
import { type ServedWorld, type ServeOptions, serveWorld } from './serve-world.ts';

const types: Record<string, string> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  json: 'application/json',
};

export type ServedPage = ServedWorld & { page: string };

type Answer = { status: number; headers: Record<string, string>; body: string | Uint8Array };

const relay = async (
  { url, token }: ServedWorld,
  request: IncomingMessage,
  below: string,
): Promise<Answer> => {
  const { method, readBody } = describeRequest(request);
  const body = await readBody();
  const response = await fetch(`${url}${below}`, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(body === undefined || body.length === 0 ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined || body.length === 0 ? {} : { body }),
  });
  const type = response.headers.get('content-type') ?? 'application/json';
  return {
    status: response.status,
    headers: { 'content-type': type },
    body: Buffer.from(await response.arrayBuffer()),
  };
};

/** Serves the tree, whose `[ui]` is generated. */
export const servePage = async (
  tree: readonly TreeFile[],
  options?: ServeOptions,
): Promise<ServedPage> => {
  const served = await serveWorld(tree, options);
  const { contract, session } = served;
  const { ui } = contract;
  if (ui === null) throw new Error('the world has no [ui]');
  const files = new Map(
    generatePage(contract, tree).map(({ path, content }) => [
      path.slice(ui.static.length),
      content,
    ]),
  );
  const answer = async (request: IncomingMessage): Promise<Answer> => {
    const described = describeRequest(request);
    const { path } = described;
    if (path.startsWith(rowsPrefix)) return answerRows(described, session);
    if (path.startsWith(`${ui.apiPath}/`)) {
      return relay(served, request, (request.url ?? '').slice(ui.apiPath.length));
    }
    const file = files.has(path) ? path : '/index.html';
    const type = types[file.split('.').at(-1) ?? ''] ?? 'text/plain';
    return { status: 200, headers: { 'content-type': type }, body: files.get(file) ?? '' };
  };
  const server = createServer(async (request: IncomingMessage, response: ServerResponse) => {
    const { status, headers, body } = await answer(request);
    response.writeHead(status, headers).end(body);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    ...served,
    page: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async stop() {
      server.closeAllConnections();
      server.close();
      await served.stop();
    },
  };
};
