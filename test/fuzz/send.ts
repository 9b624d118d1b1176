/** One request with its body as it is, and what came back of it. */
import { once } from 'node:events';
import { Agent, request } from 'node:http';

export type Sent = {
  method: string;
  url: string;
  authorization: string;
  bytes: Uint8Array;
};

const agent = new Agent({ keepAlive: true, maxSockets: 1 });

/** The status, and how many bytes the answer has; 0 when the server cut the connection. */
export const send = async ({ method, url, authorization, bytes }: Sent) => {
  const headers = {
    authorization,
    'content-type': 'application/json',
    'content-length': String(bytes.byteLength),
  };
  const sent = request(url, { method, agent, headers });
  // A body that is too large is refused before it is there, and the connection cut.
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
