/** `svc worlds connector record`: a local proxy to the vendor that stores a client's exchanges as captures. */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Command } from 'commander';
import { AppError } from '#domain/error.ts';
import { connectorFile } from '#language/files/connector-toml.ts';
import { draftWorld } from '#mirror/draft/draft.ts';
import type { SeenExchange } from '#mirror/draft/exchange.ts';
import { apiFromExchanges } from '#mirror/draft/from-exchanges.ts';
import { createKeeper } from '#mirror/record/keep-exchange.ts';
import { startProxy } from '#mirror/record/proxy.ts';
import { createSecrets, scrubJson } from '#mirror/redact/secrets.ts';
import { changeTree } from '../files/write-tree.ts';
import { type Context, viewOf } from '../terminal/context.ts';
import { formatCount } from '../terminal/print.ts';
import { listenForStop } from '../terminal/stopping.ts';
import { describeDraft } from '../views/draft.ts';
import { addCommand, parseNumber } from './command.ts';
import { readMirror } from './connector-capture.ts';
import { compiledFiles, refuseFilled } from './connector-draft.ts';

type Options = { port?: number; to?: string; name?: string };

const usualPort = 4700;
/** Maximum number of exchanges that are recorded if the folder has no connector; they are enough for a draft. */
const mostExchanges = 2_000;
const timeoutMs = 120_000;

const readTarget = (to: string | undefined, folder: string): string => {
  if (to === undefined) {
    throw new AppError(
      'invalid',
      `${folder} has no connector.toml: name the vendor's address with --to`,
    );
  }
  if (/^https?:\/\/[^/?#\s]+[^?#\s]*$/i.test(to) && URL.canParse(to)) return to.replace(/\/+$/, '');
  throw new AppError('invalid', `--to must be an http or https address without query, not "${to}"`);
};

const record = async (context: Context, folder: string, options: Options): Promise<void> => {
  const root = resolve(context.cwd, folder);
  const hasConnector = existsSync(join(root, connectorFile));
  const secrets = createSecrets();
  const mirror = hasConnector ? readMirror(context, folder).contract : undefined;
  if (mirror === undefined) refuseFilled(context, folder, {});
  const base = mirror?.vendor.baseUrl ?? readTarget(options.to, folder);
  const keep = mirror === undefined ? undefined : createKeeper(mirror, root, secrets);
  const seen: SeenExchange[] = [];
  const stopping = listenForStop();
  const say = (text: string): void => context.out.write(`${secrets.scrub(text)}\n`);
  try {
    const proxy = await startProxy({
      ...{ port: options.port ?? usualPort, base, secrets, timeoutMs },
      seen(exchange) {
        const { method, status, url } = exchange;
        const path = new URL(url).pathname;
        const kept = keep?.(exchange);
        if (kept === undefined && seen.length < mostExchanges) seen.push(exchange);
        // A path may contain values that are redacted, so with a connector only the name of the capture is printed.
        if (kept === undefined) say(`${status}  ${method} ${path}`);
        else if ('file' in kept) say(`${status}  ${method}  ${kept.file}`);
        else say(`${status}  ${method}  not stored: ${kept.reason}`);
      },
      failed: (method, _path, reason) => say(`–    ${method}  not answered: ${reason}`),
    });
    say(
      `send requests to ${proxy.url} instead of ${base}; the answers are stored in ${folder} until Ctrl-C`,
    );
    await new Promise<void>((done) => {
      stopping.signal.addEventListener('abort', () => done(), { once: true });
      if (stopping.signal.aborted) done();
    });
    await proxy.stop();
  } finally {
    stopping.release();
  }
  if (mirror !== undefined) return;
  if (seen.length === 0) {
    say('no request was recorded, so there is nothing to draft from');
    return;
  }
  const known = { base, ...(options.name === undefined ? {} : { title: options.name }) };
  const withBody = seen.filter(({ body }) => body !== undefined);
  const { api, marks } = apiFromExchanges(scrubJson(withBody, secrets), known);
  const made = draftWorld(api, marks);
  changeTree(context, folder, { write: compiledFiles(folder, made), remove: [] });
  const keepDrafted = createKeeper(readMirror(context, folder).contract, root, secrets);
  const captures = seen.map(keepDrafted).filter((one) => 'file' in one).length;
  say(
    `${describeDraft(folder, made, viewOf(context))}\nalso stored: ${formatCount(captures, 'capture')}`,
  );
};

export const addConnectorRecord = (connector: Command, context: Context): void => {
  addCommand(connector, {
    usage: 'record <folder>',
    summary: 'proxy a client to the vendor and record the traffic as captures or as a draft',
    example: [
      'svc worlds connector record ./crm --port 4700',
      'svc worlds connector record ./new --to https://api.crm.example/v1',
    ].join('\n'),
  })
    .option(
      '--port <number>',
      `port on 127.0.0.1 that the proxy listens on (default: ${usualPort})`,
      parseNumber({ min: 1, max: 65_535, whole: true }),
    )
    .option('--to <url>', 'address of the vendor, for a folder without connector.toml')
    .option('--name <text>', 'name of the drafted world')
    .action((folder: string, options: Options) => record(context, folder, options));
};
