/** Tests the routes to a surface: a direct connection, and a tunnel through a server that decides where it leads. */
import { createServer, type IncomingMessage, request, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, expect, it } from 'vitest';
import { agentOf, directRoute, type Route, tunnelRoute } from './route.ts';

const open: Server[] = [];

const portOf = async (server: Server): Promise<number> => {
  open.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
};

const startSurface = (): Promise<number> =>
  portOf(createServer((asked, response) => response.end(`surface ${asked.headers.host}`)));

/** Fake control plane that makes tunnels for one token and one authority, to a port of its choice. */
const startControl = async (leadsTo: number) => {
  const asked: { path: string | undefined; token: string | undefined }[] = [];
  const server = createServer().on('connect', (given: IncomingMessage, socket: Socket) => {
    const token = given.headers['proxy-authorization'];
    asked.push({ path: given.url, token });
    if (token !== 'Bearer mine' || given.url !== 'ses-a--ui.localhost:4400') {
      socket.end('HTTP/1.1 403 Forbidden\r\nconnection: close\r\n\r\n');
      return;
    }
    const far = connect(leadsTo, '127.0.0.1');
    socket.write('HTTP/1.1 200 OK\r\n\r\n');
    socket.pipe(far).pipe(socket);
    socket.on('error', () => far.destroy());
    far.on('error', () => socket.destroy());
  });
  return { asked, url: `http://127.0.0.1:${await portOf(server)}` };
};

const ask = async (route: Route, authority: string, port: number): Promise<string> => {
  const agent = agentOf(route);
  const headers = { host: authority };
  const destination = { host: '127.0.0.1', port, authority };
  try {
    return await new Promise((resolve, reject) => {
      request({ ...destination, agent, headers }, (answer) => text(answer).then(resolve, reject))
        .on('error', reject)
        .end();
    });
  } finally {
    agent.destroy();
  }
};

afterEach(() => {
  for (const server of open.splice(0)) {
    server.close();
    server.closeAllConnections();
  }
});

it('a direct connection reaches a surface', async () => {
  const port = await startSurface();
  expect(await ask(directRoute, 'ses-a--ui.localhost:4400', port)).toBe(
    'surface ses-a--ui.localhost:4400',
  );
  await expect(ask(directRoute, 'ses-a--ui.localhost:4400', 1)).rejects.toThrow('ECONNREFUSED');
});

it('a tunnelled connection sends the current token and never dials an address itself', async () => {
  const control = await startControl(await startSurface());
  let token = 'not yet mine';
  const route = tunnelRoute({ controlUrl: control.url, token: () => token });
  const authority = 'ses-a--ui.localhost:4400';
  await expect(ask(route, authority, 1)).rejects.toThrow('the control plane answers 403');
  token = 'mine';
  expect(await ask(route, authority, 1)).toBe(`surface ${authority}`);
  await expect(ask(route, 'ses-b--ui.localhost:4400', 1)).rejects.toThrow('answers 403');
  expect(control.asked.at(-2)).toEqual({ path: authority, token: 'Bearer mine' });
});
