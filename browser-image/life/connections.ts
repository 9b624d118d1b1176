/** Connects clients and viewers to the browser. They wait while it is being started, and their number is limited. */
import type { WebSocket } from 'ws';
import { type Closure, closeFor } from '../closures.ts';
import { serveClient } from '../relay/client.ts';
import { serveViewer } from '../view/viewer.ts';
import { createThrottle } from '../watch/events.ts';
import type { Instance } from './instance.ts';
import { type Connected, downloadsOf, type Life, report, setPasses } from './state.ts';

const reject = (socket: WebSocket, closure: Closure): undefined => {
  socket.resume();
  closeFor(socket, closure);
};

/**
 * Waits for the operation in progress, then returns the browser to connect to; undefined if the socket was closed
 * instead.
 */
const whenStanding = async (life: Life, socket: WebSocket): Promise<Instance | undefined> => {
  socket.on('error', () => undefined); // a close follows
  socket.pause();
  await life.turn;
  const { condition, instance, connected, options } = life;
  if (condition === 'failed') return reject(socket, 'browser_failed');
  if (condition === 'lost') return reject(socket, 'browser_lost');
  if (condition !== 'serving' || instance === undefined) return reject(socket, 'session_ended');
  if (connected.size >= options.mostConnections) return reject(socket, 'too_many');
  return instance;
};

const join = ({ connected }: Life, one: Connected): void => {
  connected.add(one);
  void one.ended.then(() => connected.delete(one));
};

/** Serves a DevTools client that drives the browser. */
export const serveDriving = async (life: Life, socket: WebSocket): Promise<void> => {
  const instance = await whenStanding(life, socket);
  if (instance === undefined) return;
  const { origins, keeper, options } = life;
  // A browser that ends meanwhile keeps no downloads; its end is reported elsewhere.
  const keepDownloads = (id?: string) => instance.downloads.keep(id).catch(() => undefined);
  /**
   * Prepares a context that a client makes: like the browser's own, it keeps downloads and has the session's passes.
   */
  const prepare = async (id: string): Promise<void> => {
    const { assignment } = life;
    const entering = assignment === undefined ? undefined : setPasses(instance, assignment, id);
    await Promise.all([keepDownloads(id), entering]).catch((err: unknown) =>
      options.log.warn({ err }, 'a context of a client could not enter the session'),
    );
  };
  const throttle = createThrottle();
  const client = serveClient({
    socket,
    connection: instance.connection,
    rules: { origins, downloads: downloadsOf(options) },
    onActivity: () => keeper.touch(),
    onRefused: (method, why) =>
      throttle((left) =>
        report(life, { kind: 'refused', what: method.slice(0, 200), why, ...left }),
      ),
    onContext: prepare,
  });
  join(life, { ...client, isDriving: true });
  await client.ended;
  // The client's own download settings end with it, and so do ours beneath them.
  if (life.instance === instance) await keepDownloads();
};

/** Serves a viewer, who may also act in the browser unless the view is read-only. */
export const serveViewing = async (
  life: Life,
  socket: WebSocket,
  isReadOnly: boolean,
): Promise<void> => {
  const instance = await whenStanding(life, socket);
  if (instance === undefined) return;
  const { origins, keeper, options } = life;
  const { connection, tabs } = instance;
  const onActivity = () => keeper.touch();
  const viewer = serveViewer({
    socket,
    connection,
    tabs,
    origins,
    isReadOnly,
    onActivity,
    log: options.log,
  });
  join(life, { ...viewer, isDriving: !isReadOnly });
};
