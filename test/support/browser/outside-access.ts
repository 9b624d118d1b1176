/**
 * Ways in which code in a page may reach an outside address, and a listener there that records them: TCP connections
 * and UDP packets of WebRTC. Each way is tried with a port of its own, as some of them send no path.
 */
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import type { BrowserContext } from 'playwright-core';
import { until } from '#runtime/pause.ts';
import { visit } from './visit.ts';

export type Outside = {
  /** `http://outside.localhost:port`. */
  url: string;
  /** Returns true once any data arrived. */
  isReached(): boolean;
  stop(): void;
};

const answer =
  'HTTP/1.1 200 OK\r\naccess-control-allow-origin: *\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok';

/**
 * Opens a TCP server and a UDP socket at one free port. The system chooses the port for TCP; if another program uses the
 * same port for UDP, the next port is tried.
 */
const listenAtOnePort = async (server: Server): Promise<{ port: number; packets: Socket }> => {
  for (;;) {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const packets = createSocket('udp4').bind(port, '127.0.0.1');
    try {
      await once(packets, 'listening');
      return { port, packets };
    } catch (error) {
      packets.close();
      server.close();
      await once(server, 'close');
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    }
  }
};

/** Listens at one port, for TCP and UDP. */
export const startOutside = async (): Promise<Outside> => {
  let reached = 0;
  const server = createServer((socket) => {
    reached += 1;
    socket.on('error', () => socket.destroy()).end(answer);
  });
  const { port, packets } = await listenAtOnePort(server);
  packets.on('message', () => {
    reached += 1;
  });
  return {
    url: `http://outside.localhost:${port}`,
    isReached: () => reached > 0,
    stop() {
      server.close();
      packets.close();
    },
  };
};

const element = (tag: string, properties: string, act = ''): string =>
  `{ const made = Object.assign(document.createElement('${tag}'), ${properties});
    document.body.append(made); ${act} }`;

const webRtc = (window: string, url: string): string =>
  `{ const peer = new ${window}.RTCPeerConnection({ iceServers: [{ urls: 'stun:127.0.0.1:${new URL(url).port}' }] });
    peer.createDataChannel('x'); peer.createOffer().then((offer) => peer.setLocalDescription(offer)); }`;

/** Code that tries each way. */
export const waysOut: Readonly<Record<string, (url: string, leave: string) => string>> = {
  WebRTC: (url) => webRtc('window', url),
  'WebRTC of an empty frame': (url) => element('iframe', '{}', webRtc('made.contentWindow', url)),
  'a new window': (url) => `window.open('${url}/x')`,
  'a new window without an opener': (url) => `window.open('${url}/x', '_blank', 'noopener')`,
  'an empty window that moves on': (url) => `window.open('about:blank').location = '${url}/x'`,
  'its own address': (url) => `location.href = '${url}/x'`,
  'its own address, by a refresh': (url) =>
    element('meta', `{ httpEquiv: 'refresh', content: '0;url=${url}/x' }`),
  'its own address, by a redirect': (_, leave) => `location.href = '${leave}'`,
  'a form': (url) => element('form', `{ action: '${url}/x' }`, 'made.submit();'),
  'a form into a new tab': (url) =>
    element('form', `{ action: '${url}/x', target: '_blank' }`, 'made.submit();'),
  'a form into a new tab, by a redirect': (_, leave) =>
    element('form', `{ method: 'POST', action: '${leave}', target: '_blank' }`, 'made.submit();'),
  'a link into a new tab': (url) =>
    element('a', `{ href: '${url}/x', target: '_blank' }`, 'made.click();'),
  'a download': (url) => element('a', `{ href: '${url}/x', download: 'x' }`, 'made.click();'),
  preconnect: (url) => element('link', `{ rel: 'preconnect', href: '${url}' }`),
  prefetch: (url) => element('link', `{ rel: 'prefetch', href: '${url}/x' }`),
  'a speculation rule': (url) =>
    element(
      'script',
      `{ type: 'speculationrules', textContent: JSON.stringify({ prefetch: [{ urls: ['${url}/x'], eagerness: 'immediate' }] }) }`,
    ),
  fetch: (url) => `fetch('${url}/x', { mode: 'no-cors' }).catch(() => undefined)`,
  'a beacon': (url) => `navigator.sendBeacon('${url}/x', 'x')`,
  'a picture': (url) => `new Image().src = '${url}/x'`,
  'a frame': (url) => element('iframe', `{ src: '${url}/x' }`),
  'a WebSocket': (url) => `new WebSocket('${url.replace('http', 'ws')}/x')`,
};

/** Place where a way is tried. */
export type Place = {
  page: string;
  /** True to run the code in the frame of the page. */
  isFramed?: boolean;
  /** Returns the address at the page's own origin that redirects to the outside one. */
  leave(to: string): string;
};

/** Opens a page and runs the code in it, like a script by the page's author. */
const runInPage = async (
  context: BrowserContext,
  { page, isFramed = false }: Pick<Place, 'page' | 'isFramed'>,
  code: string,
): Promise<void> => {
  const opened = await context.newPage();
  await visit(opened, page);
  const [main, framed] = opened.frames();
  const frame = isFramed ? framed : main;
  await frame?.locator('body *').first().waitFor({ state: 'attached' });
  const script = `{ const written = document.createElement('script'); written.textContent = ${JSON.stringify(code)};
    document.body.append(written); }`;
  // The browser crashes a page that tries forbidden WebRTC, which ends the call as well.
  const ended = new Promise<void>((resolve) => opened.once('crash', () => resolve()));
  await Promise.race([frame?.evaluate(script), ended]);
};

/**
 * Tries a way in the page, and then in an unrestricted page as a control. Returns true if the page reached the address.
 * Data of the page would have arrived before the later data of the control.
 */
export const reaches = async (
  context: BrowserContext,
  name: string,
  closed: Place,
  open: Place,
): Promise<boolean> => {
  const write = waysOut[name];
  if (write === undefined) throw new Error(`no way out is called ${name}`);
  const [mine, control] = await Promise.all([startOutside(), startOutside()]);
  try {
    await runInPage(context, closed, write(mine.url, closed.leave(mine.url)));
    await runInPage(context, open, write(control.url, open.leave(control.url)));
    await until(() => control.isReached(), {
      timeoutMs: 20_000,
      what: `${name} from an open page`,
    });
    return mine.isReached();
  } finally {
    for (const page of context.pages()) await page.close();
    mine.stop();
    control.stop();
  }
};
