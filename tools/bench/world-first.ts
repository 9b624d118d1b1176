/**
 * Measures requests that a session never received before, one after another over one connection. No answer can come
 * from a cache of the host, so the figure is the time that a client waits for a new request.
 */
import { Agent, request } from 'node:http';
import { median } from './figure.ts';
import type { LoadRequest } from './host-load.ts';

const ask = (agent: Agent, url: string, { method, path, headers }: LoadRequest): Promise<number> =>
  new Promise((resolve, reject) => {
    const startedAt = performance.now();
    request(url + path, { agent, method, headers: headers ?? {} }, (response) => {
      response.resume().once('end', () => {
        if (response.statusCode === 200) resolve(performance.now() - startedAt);
        else reject(new Error(`${url}${path} answers ${response.statusCode}`));
      });
    })
      .once('error', reject)
      .end();
  });

/** Returns the median in milliseconds. The first tenth warms programs and connection up and does not count. */
export const measureFirst = async (
  url: string,
  requests: readonly LoadRequest[],
): Promise<number> => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const samples: number[] = [];
  try {
    for (const one of requests) samples.push(await ask(agent, url, one));
    return median(samples.slice(Math.ceil(requests.length / 10)));
  } finally {
    agent.destroy();
  }
};
