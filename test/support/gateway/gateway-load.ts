/**
 * Steady use of one session through the gateway, by clients that keep their connections and never repeat a request.
 * Each answer must come from the session that was requested.
 */
import { Agent, request } from 'node:http';
import { describeError } from '#domain/error.ts';
import { pause } from '#runtime/pause.ts';

export type GatewayLoadOptions = {
  /** `http://host:port` of the gateway. */
  gateway: string;
  /** Address of the session, which becomes the `Host` header, and its token. */
  surface: { url: string; token: string };
  path: string;
  clients: number;
};

const betweenMs = 50;

/** Sends one request; returns the status. */
export const askGateway = (
  { gateway, surface, path }: Omit<GatewayLoadOptions, 'clients'>,
  agent?: Agent,
): Promise<number> =>
  new Promise((resolve, reject) => {
    const headers = { host: new URL(surface.url).host, authorization: `Bearer ${surface.token}` };
    const options = agent === undefined ? { headers } : { headers, agent };
    const sent = request(`${gateway}${path}`, options, (response) => {
      response.on('end', () => resolve(response.statusCode ?? 0));
      response.on('error', reject);
      response.resume();
    });
    sent.on('error', reject);
    sent.end();
  });

/** Starts the clients; `stop` returns the number of requests, and the failures. */
export const startGatewayLoad = (options: GatewayLoadOptions) => {
  const agent = new Agent({ keepAlive: true, maxSockets: options.clients });
  const failures: string[] = [];
  let asked = 0;
  let isOn = true;
  const use = async (): Promise<void> => {
    while (isOn) {
      asked += 1;
      try {
        const status = await askGateway(options, agent);
        if (status !== 200) failures.push(`status ${status}`);
      } catch (error) {
        failures.push(describeError(error));
      }
      await pause(betweenMs);
    }
  };
  const used = Promise.all(Array.from({ length: options.clients }, use));
  return {
    async stop(): Promise<{ asked: number; failures: string[] }> {
      isOn = false;
      await used;
      agent.destroy();
      return { asked, failures };
    },
  };
};
