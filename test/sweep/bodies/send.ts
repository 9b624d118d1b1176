/** Sends one request with its body unchanged, and returns the answer. */
import { once } from 'node:events';
import { Agent, request } from 'node:http';

export type Sent = {
  method: string;
  url: string;
  authorization: string;
  bytes: Uint8Array;
};

const agent = new Agent({ keepAlive: true, maxSockets: 1 });

/**
 * Returns the status, and the size and text of the answer; all are 0 or empty if the server cut the
 * connection.
 */
export const send = async ({ method, url, authorization, bytes }: Sent) => {
  const headers = {
    authorization,
    'content-type': 'application/json',
    'content-length': String(bytes.byteLength),
  };
  const sent = request(url, { method, agent, headers });
  // The server refuses a body that is too large before its end, and cuts the connection.
  sent.on('error', () => undefined);
  sent.end(bytes);
  try {
    const [response] = await once(sent, 'response');
    let size = 0;
    let text = '';
    for await (const chunk of response) {
      size += (chunk as Buffer).byteLength;
      if (text.length < 2_000) text += chunk;
    }
    return { status: response.statusCode as number, size, text };
  } catch {
    return { status: 0, size: 0, text: '' };
  }
};
