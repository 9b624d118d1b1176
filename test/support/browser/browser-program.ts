/**
 * A browser program with a real Chromium, and a small site for it to show. The site's page shows the user whom its
 * cookie names, counts visits in its storage, and has a form.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLog } from '#runtime/log.ts';
import { readConfig } from '../../../browser-image/config.ts';
import { type BrowserProgram, startBrowserProgram } from '../../../browser-image/program.ts';
import type { Checkpoint } from '../../../browser-image/watch/checkpoint.ts';
import type { BrowserEvent } from '../../../browser-image/watch/events.ts';

export type Site = {
  /** Origin of the session: `http://ses-a--ui.localhost:<port>`. */
  origin: string;
  /** Origin of another session on the same server. */
  otherOrigin: string;
  port: number;
  /** Host headers and paths of the requests so far. */
  requests: { host: string; path: string }[];
  close(): Promise<void>;
};

const page = (user: string): string => `<!doctype html><html lang="en"><meta charset="utf-8">
<title>Site</title><link rel="icon" href="data:,">
<h1>${user === '' ? 'No user is logged in' : `Hello ${user}`}</h1>
<p id="visits"></p><p id="scratch"></p>
<form action="/login"><input name="user" aria-label="User"><button>Log in</button></form>
<input type="file" id="file"><p id="file-text"></p>
<a href="/report.csv" download>Report</a>
<div id="pad" style="width:200px;height:200px;background:#ddd">pad</div>
<script>
const visits = Number(localStorage.getItem('visits') ?? 0) + 1;
localStorage.setItem('visits', visits);
document.querySelector('#visits').textContent = 'visits ' + visits;
document.querySelector('#scratch').textContent = sessionStorage.getItem('scratch') ?? '';
document.querySelector('#file').onchange = async ({ target }) => {
  document.querySelector('#file-text').textContent = await target.files[0].text();
};
let pressed = 0;
document.querySelector('#pad').onmousedown = ({ currentTarget: pad }) => {
  pressed += 1;
  pad.style.background = pressed % 2 ? '#e00' : '#0a0';
};
</script></html>`;

/** Requests to `/slow` whose answers are held back. */
const held = new Set<() => void>();

/** Answers the requests to `/slow`. */
export const answerSlow = (): void => {
  for (const release of held) release();
  held.clear();
};

const answer = (request: IncomingMessage, response: ServerResponse): void => {
  const url = new URL(request.url ?? '/', 'http://site');
  if (url.pathname === '/login') {
    const cookie = `sid=${encodeURIComponent(url.searchParams.get('user') ?? '')}; HttpOnly; Path=/; SameSite=Lax`;
    response.writeHead(303, { location: '/', 'set-cookie': cookie }).end();
  } else if (url.pathname === '/report.csv') {
    const disposition = 'attachment; filename="report.csv"';
    response.writeHead(200, { 'content-type': 'text/csv', 'content-disposition': disposition });
    response.end('a,b\n1,2\n');
  } else if (url.pathname === '/ask') {
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' });
    response.end(
      '<!doctype html><title>asks</title><script>document.title = confirm("Sure?")</script>',
    );
  } else if (url.pathname === '/slow') {
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' });
    held.add(() => response.end(page('')));
  } else if (url.pathname === '/pass') {
    response.end(request.headers.cookie ?? '');
  } else if (url.pathname === '/host') {
    response.end(request.headers.host ?? '');
  } else {
    const [, user = ''] = /\bsid=([^;]*)/.exec(request.headers.cookie ?? '') ?? [];
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' });
    response.end(page(decodeURIComponent(user)));
  }
};

const listen = (server: Server): Promise<number> =>
  new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
  });

/** Starts the site. */
export const startSite = async (): Promise<Site> => {
  const requests: Site['requests'] = [];
  const server = createServer((request, response) => {
    requests.push({ host: request.headers.host ?? '', path: request.url ?? '' });
    answer(request, response);
  });
  const port = await listen(server);
  return {
    origin: `http://ses-a--ui.localhost:${port}`,
    otherOrigin: `http://ses-b--ui.localhost:${port}`,
    port,
    requests,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};

export type StartedBrowser = BrowserProgram & {
  events: BrowserEvent[];
  checkpoints: Checkpoint[];
};

/** Starts a browser program in a folder of its own. */
export const startBrowserForTest = async (
  env: Record<string, string> = {},
): Promise<StartedBrowser> => {
  const folder = await mkdtemp(join(tmpdir(), 'svc-browser-test-'));
  const events: BrowserEvent[] = [];
  const checkpoints: Checkpoint[] = [];
  const config = readConfig({
    SVC_WORK_DIR: join(folder, 'work'),
    SVC_CHECKPOINT_MS: '100',
    ...env,
  });
  const program = await startBrowserProgram({
    config,
    log: createLog('browser', 'warn'),
    onEvent: (event) => events.push(event),
    onCheckpoint: (checkpoint) => checkpoints.push(checkpoint),
  });
  return {
    ...program,
    events,
    checkpoints,
    async stop() {
      await program.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
};
