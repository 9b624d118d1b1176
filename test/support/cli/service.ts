/**
 * A service for tests of commands: it gives the answers that a test lists, and records the requests. This file also has
 * a session and a call as the API returns them.
 */
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { runCommandLine } from '../../../src/cli/program.ts';
import { testContext } from './context.ts';

type Asked = { method: string; url: string; authorization: string; body: unknown };
type StubAnswer = { status?: number; body: unknown };

const readBody = async (request: IncomingMessage): Promise<unknown> => {
  let text = '';
  for await (const chunk of request) text += String(chunk);
  return text === '' ? undefined : JSON.parse(text);
};

/** Serves the answers in order, the last one repeatedly. */
const startService = async (answers: readonly StubAnswer[]) => {
  const asked: Asked[] = [];
  const server = createServer(async (request, response) => {
    const { method = '', url = '', headers } = request;
    const body = await readBody(request);
    asked.push({ method, url, authorization: headers.authorization ?? '', body });
    const answer = answers[Math.min(asked.length, answers.length) - 1];
    const bytes = answer?.body instanceof Uint8Array ? answer.body : undefined;
    response.writeHead(answer?.status ?? 200, {
      'content-type': bytes === undefined ? 'application/json' : 'application/octet-stream',
    });
    response.end(bytes ?? JSON.stringify(answer?.body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const stop = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return { url: `http://127.0.0.1:${port}`, asked, stop };
};

/** Runs a command line, split at blanks, against a service that gives these answers. */
export const runAnswered = async (words: string, ...answers: StubAnswer[]) => {
  const service = await startService(answers);
  const keys = { SVC_PUBLIC_KEY: 'pk', SVC_SECRET_KEY: 'sk', SVC_POOL_TOKEN: 'pt' };
  const urls = { SVC_URL: service.url, SVC_ADMIN_URL: service.url };
  const context = testContext({ env: { ...urls, ...keys } });
  try {
    const status = await runCommandLine(words.split(' '), context);
    return { status, asked: service.asked, ...context.written(), resultStatus: context.status() };
  } finally {
    await service.stop();
  }
};

export const session = {
  id: 'ses-1',
  slug: 'notes',
  versionId: 'ver-1',
  state: 'READY',
  ready: true,
  endReason: null,
  error: null,
  instruction: 'Do it.\n',
  tools: [{ name: 'list_notes', inputSchema: {}, outputSchema: {} }],
  surfaces: { api: { url: 'http://127.0.0.1:9', token: 'st-1' } },
  task: { form: 'bundled', name: 'finish', contentHash: 'sha256:0', id: null, version: null },
  pinned: false,
  browserTier: 'standard',
  size: 'standard',
  isolation: null,
  clock: { at: '2026-03-01T00:00:00.000Z', mode: 'stepped', rate: 60 },
  seed: 7,
  hostReused: false,
  run: null,
  build: null,
  verdict: null,
  score: null,
  createdAt: '2026-01-01T00:00:00.000Z',
  assignedAt: '2026-01-01T00:00:00.001Z',
  readyAt: '2026-01-01T00:00:00.021Z',
  closedAt: null,
  lastActivityAt: '2026-01-01T00:00:00.000Z',
};

export const call = {
  id: 'call-1',
  sessionId: 'ses-1',
  seq: 1,
  kind: 'tool',
  name: 'list_notes',
  input: {},
  state: 'succeeded',
  output: [{ id: 1 }],
  error: null,
  changes: {},
  queuedAt: '2026-01-01T00:00:00.000Z',
  claimedAt: '2026-01-01T00:00:00.001Z',
  answeredAt: '2026-01-01T00:00:00.012Z',
};
