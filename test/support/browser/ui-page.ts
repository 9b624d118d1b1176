/**
 * Serves a world with its page as a host does, at an origin of its own that is entered by a link, for tests of the
 * page in a browser. Links never expire, since no control plane counts their uses.
 */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { BrowserContext } from 'playwright-core';
import { newId } from '#domain/id.ts';
import type { Digest, TreeFile } from '#domain/world.ts';
import { generatePage } from '#language/artifacts/page.ts';
import type { Contract } from '#language/contract.ts';
import { createLog } from '#runtime/log.ts';
import { createServing } from '../../../world-host-image/session/serving.ts';
import { answerRows, rowsPrefix } from '../../../world-host-image/ui/rows/answer.ts';
import { createUiSurface } from '../../../world-host-image/ui/surface.ts';
import { type ServedWorld, type ServeOptions, serveWorld } from '../host/serve-world.ts';
import { visit } from './visit.ts';

export type ServedPage = ServedWorld & {
  /** Origin of the page, without a slash at its end. */
  page: string;
  /** Opens the session's link in a browser, whose pages may then enter. */
  enter(context: BrowserContext): Promise<void>;
};

const digestOf = (bytes: Uint8Array): Digest =>
  `sha256:${createHash('sha256').update(bytes).digest('hex')}`;

/** Returns the files of the page: those that the compiler generates, or the author's own. */
const pageFilesOf = (tree: readonly TreeFile[], contract: Contract): readonly TreeFile[] => {
  const generated = generatePage(contract, tree);
  if (generated.length > 0) return generated;
  return tree.filter(({ path }) => path.startsWith(`${contract.ui?.static}/`));
};

/** Serves the tree, which must have a `[ui]`. */
export const servePage = async (
  tree: readonly TreeFile[],
  options?: ServeOptions,
): Promise<ServedPage> => {
  const served = await serveWorld(tree, options);
  const { contract, session } = served;
  const { ui } = contract;
  if (ui === null) throw new Error('the world has no [ui]');
  const files = pageFilesOf(tree, contract).map(({ path, content }) => ({
    path: path.slice(ui.static.length + 1),
    sha256: digestOf(content),
    sizeBytes: content.length,
    content,
  }));
  const blobs = new Map(files.map(({ sha256, content }) => [sha256, content]));
  session.id = newId('ses');
  session.ui = { files };
  const serving = createServing();
  serving.begin(session);
  const surface = createUiSurface({
    serving,
    log: createLog('test', 'silent'),
    services: { [rowsPrefix]: answerRows },
    fetchBlob: async (digest) => blobs.get(digest) ?? new Uint8Array(),
    consumeLink: async () => true,
  });
  const server = createServer((request, response) => {
    if (!surface(request, response)) response.writeHead(404).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const origin = `http://${session.id}--ui.localhost:${port}`;
  return {
    ...served,
    page: origin,
    async enter(context) {
      const page = await context.newPage();
      await visit(page, `${origin}/.svc/enter?token=link`);
      await page.close();
    },
    async stop() {
      server.closeAllConnections();
      server.close();
      await served.stop();
    },
  };
};
