/** A version of the sample world with a small page, and helpers to request it from a host. */
import { createHash } from 'node:crypto';
import { newId } from '#domain/id.ts';
import type { Digest } from '#domain/world.ts';
import type { UiContract } from '#language/contract.ts';
import type { Assignment } from '#wire/host-api/assignment.ts';
import { type Answered, type Asked, ask } from '../gateway/gateway.ts';
import { assignment, type Bench, startBench } from '../host/host-bench.ts';
import { sampleVersion, sampleWorldContract } from './sample-world.ts';

/** Files of the page; one is large enough to be worth compressing. */
export const pageFiles = {
  'index.html': '<!doctype html><title>Board</title><script src="/app.js"></script>',
  'app.js': `// ${'a line that repeats itself '.repeat(100)}\nexport const board = 1;\n`,
  'docs/index.html': '<!doctype html><title>Docs</title>',
  'logo.png': 'not really a picture',
  'with space.txt': 'spaced',
} as const;

const digestOf = (bytes: Uint8Array): Digest =>
  `sha256:${createHash('sha256').update(bytes).digest('hex')}`;

export type UiHost = Omit<Bench, 'host'> & {
  sessionId: string;
  /** Host name of the page's origin. */
  host: string;
  /** Sends a request to the UI as a browser that has entered, unless `headers` differ. */
  ui(path: string, asked?: Partial<Asked>): Promise<Answered>;
  /** Cookie of a browser that has entered. */
  cookie: string;
};

/** Starts a host that serves a session with a page, entered by a link. */
export const startUiHost = async (
  ui: Partial<UiContract> = {},
  parts: Partial<Assignment> = {},
): Promise<UiHost> => {
  const contract = {
    ...sampleWorldContract,
    ui: { static: 'web', entry: '/', apiPath: '/__world-api', generated: false, ...ui },
  };
  const version = sampleVersion(undefined, contract);
  const files = Object.entries(pageFiles).map(([path, text]) => {
    const bytes = new TextEncoder().encode(text);
    return { path, bytes, sha256: digestOf(bytes), sizeBytes: bytes.length };
  });
  const fileBlobs = files.map(({ sha256, bytes }) => [sha256, bytes] as const);
  const bench = await startBench({ blobs: new Map([...version.blobs, ...fileBlobs]) });
  const { control } = bench;
  const { body: warm } = await control.message('reportWarm');
  const port = Number(new URL(String(warm.address)).port);
  const sessionId = newId('ses');
  control.assign(
    assignment({
      bundle: version.bundle,
      snapshot: version.snapshot,
      blobs: {},
      sessionId,
      surfaces: ['api', 'ui'],
      ui: { files: files.map(({ bytes: _, ...file }) => file) },
      ...parts,
    }),
  );
  await control.message('reportReady');
  const host = `${sessionId}--ui.localhost:${port}`;
  control.links.add('lt-first');
  const entered = await ask(port, { host, path: '/.svc/enter?token=lt-first' });
  const cookie = entered.headers['set-cookie']?.[0]?.split(';')[0] ?? '';
  return {
    ...bench,
    sessionId,
    host,
    cookie,
    ui: (path, asked = {}) => ask(port, { host, path, headers: { cookie }, ...asked }),
  };
};
