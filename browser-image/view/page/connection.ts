/** The connection of the page to the browser program; it comes back by itself when the browser does. */
import type { ViewInput, ViewNews } from '../messages.ts';

export type Connection = { send(input: ViewInput): void };

export type ConnectionOptions = {
  onNews(news: ViewNews): void;
  /** A frame: its size in the page's CSS pixels, and the picture. */
  onFrame(size: { width: number; height: number }, picture: Blob): void;
  /** Called with what a person is to know of the connection; empty when all is well. */
  onStatus(text: string): void;
};

/** Close codes after which the same address works again, and what to say meanwhile; see ../../closures.ts. */
const comesBack: Readonly<Record<number, string>> = {
  1006: 'The connection broke. Connecting again…',
  4000: 'The browser was lost and is being started again…',
  4001: 'The session was reset. Connecting again…',
  4003: 'The browser moves to another machine…',
};

const isOver: Readonly<Record<number, string>> = {
  4002: 'The session has ended.',
  4005: 'As many people as there may be are looking already.',
  4006: 'The browser failed again and again. Reset the session to have another one.',
};

const firstPauseMs = 200;
const mostPauseMs = 5_000;
/** A view whose link no longer holds cannot come back; it is tried so often. */
const mostAttempts = 20;

const readFrame = (bytes: ArrayBuffer) => {
  const view = new DataView(bytes);
  const size = { width: view.getUint16(0), height: view.getUint16(2) };
  return { size, picture: new Blob([bytes.slice(4)], { type: 'image/jpeg' }) };
};

/** Connects, and again when the connection ends for a reason that passes. */
export const connect = ({ onNews, onFrame, onStatus }: ConnectionOptions): Connection => {
  let socket: WebSocket | undefined;
  let attempts = 0;

  const open = (): void => {
    const url = new URL('/view/socket', location.href);
    url.protocol = url.protocol.replace('http', 'ws');
    const opening = new WebSocket(url);
    opening.binaryType = 'arraybuffer';
    socket = opening;
    opening.onmessage = ({ data }) => {
      attempts = 0;
      if (typeof data === 'string') {
        onStatus('');
        onNews(JSON.parse(data) as ViewNews);
      } else {
        const { size, picture } = readFrame(data as ArrayBuffer);
        onFrame(size, picture);
      }
    };
    opening.onclose = ({ code }) => {
      attempts += 1;
      const text = comesBack[code];
      if (text === undefined || attempts > mostAttempts) {
        onStatus(isOver[code] ?? 'The view has ended. Open a new link to see the browser again.');
        return;
      }
      onStatus(text);
      setTimeout(open, Math.min(mostPauseMs, firstPauseMs * 2 ** attempts));
    };
  };
  open();
  return {
    send(input) {
      if (socket?.readyState === WebSocket.OPEN) socket.send(JSON.stringify(input));
    },
  };
};
