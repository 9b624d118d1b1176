/** Generates load by autocannon, in this process, if `wrk` is not installed. */
import { createRequire } from 'node:module';
import type { Load, LoadRequest, Seen } from './host-load.ts';
import { peersManifest } from './host-peers-install.ts';

type Client = { setRequests(requests: LoadRequest[]): void };
type Result = {
  requests: { total: number };
  latency: { p50: number; p99: number };
  duration: number;
  errors: number;
  timeouts: number;
  non2xx: number;
};

export const askWithAutocannon = async (
  url: string,
  { requests, seconds, connections }: Load,
): Promise<Seen> => {
  const require = createRequire(peersManifest);
  const fire = require('autocannon') as (options: object) => Promise<Result>;
  let begun = 0;
  const result = await fire({
    url,
    connections,
    duration: seconds,
    requests: [{}],
    // Each connection cycles through requests of its own, so that no two send the same at a time.
    setupClient(client: Client) {
      const own = begun;
      begun += 1;
      client.setRequests(requests.filter((_, index) => index % connections === own % connections));
    },
  });
  return {
    requests: result.requests.total,
    seconds: result.duration,
    p50Ms: result.latency.p50,
    p99Ms: result.latency.p99,
    failed: result.errors + result.timeouts + result.non2xx,
  };
};
