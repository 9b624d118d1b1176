/** Connects the page to the browser program. It reconnects once the browser is available again. */
import type { ViewInput, ViewMessage } from '#wire/live-view/messages.ts';

/** State of the connection, with the message for the user. */
export type ConnectionState =
  | { is: 'connecting' }
  /** The page is connected; the browser is not ready yet. */
  | { is: 'waiting' }
  | { is: 'open' }
  /** The connection was lost, and will return at the same address. */
  | { is: 'away'; why: string }
  | { is: 'over'; why: string; next: string };

export type Connection = { send(input: ViewInput): void; close(): void };

export type ConnectionOptions = {
  onNews(news: ViewMessage): void;
  /** Called with a frame: the size of the browser's page in CSS pixels, and the picture. */
  onFrame(size: { width: number; height: number }, picture: Blob): void;
  onState(connectionState: ConnectionState): void;
};

/**
 * Messages to show while the page reconnects, by close code. After these codes the same address works again; see
 * browser-image/closures.ts.
 */
const comesBack: Readonly<Record<number, string>> = {
  1006: 'The connection broke. Connecting again…',
  4000: 'The browser was lost and is being started again…',
  4001: 'The session was reset. Connecting again…',
  4003: 'The browser moves to another machine…',
  4004: 'Pictures came faster than they could be taken. Connecting again…',
};

const isOver: Readonly<Record<number, { why: string; next: string }>> = {
  4002: { why: 'The session has ended.', next: 'Nothing of its browser is left.' },
  4005: {
    why: 'As many people as there may be are looking already.',
    next: 'Load this page again when one of them has left.',
  },
  4006: {
    why: 'The browser failed again and again.',
    next: 'Reset the session to have another one.',
  },
};
const noLink = { why: 'This view has ended.', next: 'Open a new link to see the browser again.' };

const firstPauseMs = 100;
const mostPauseMs = 5_000;
/** Maximum number of attempts to reconnect. A view whose link is no longer valid never succeeds. */
const mostAttempts = 20;

const readFrame = (bytes: ArrayBuffer) => {
  const view = new DataView(bytes);
  const size = { width: view.getUint16(0), height: view.getUint16(2) };
  return { size, picture: new Blob([new Uint8Array(bytes, 4)], { type: 'image/jpeg' }) };
};

/** Connects, and reconnects if the connection ended for a temporary reason. */
export const connect = ({ onNews, onFrame, onState }: ConnectionOptions): Connection => {
  let socket: WebSocket | undefined;
  let attempts = 0;
  let isClosed = false;
  let isOpen = false;

  const onMessage = ({ data }: MessageEvent<string | ArrayBuffer>): void => {
    attempts = 0;
    if (!isOpen) onState({ is: 'open' });
    isOpen = true;
    if (typeof data === 'string') {
      onNews(JSON.parse(data) as ViewMessage);
      return;
    }
    const { size, picture } = readFrame(data);
    onFrame(size, picture);
  };

  const onClose = ({ code }: CloseEvent): void => {
    if (isClosed) return;
    isOpen = false;
    attempts += 1;
    const why = comesBack[code];
    if (why === undefined || attempts > mostAttempts) {
      onState({ is: 'over', ...(isOver[code] ?? noLink) });
      return;
    }
    onState({ is: 'away', why });
    setTimeout(open, Math.min(mostPauseMs, firstPauseMs * 2 ** attempts));
  };

  const open = (): void => {
    if (isClosed) return;
    const url = new URL('/view/socket', location.href);
    url.protocol = url.protocol.replace('http', 'ws');
    socket = new WebSocket(url);
    socket.binaryType = 'arraybuffer';
    socket.onopen = () => {
      // On a reconnection the reason of the last end stays visible.
      if (attempts === 0) onState({ is: 'waiting' });
    };
    socket.onmessage = onMessage;
    socket.onclose = onClose;
  };
  open();
  return {
    send(input) {
      if (socket?.readyState === WebSocket.OPEN) socket.send(JSON.stringify(input));
    },
    close() {
      isClosed = true;
      socket?.close();
    },
  };
};
