/** The load that opens sessions of a service, each called once and closed. */
import { basicAuthorization } from '#wire/client.ts';
import type { Network } from '../support/network.ts';
import type { LoadJob } from './arrivals.ts';

/** Sessions that are asked for at these moments; the world of notes has to be there. */
export const sessionJob = (network: Network, offsetsMs: readonly number[]): LoadJob => ({
  journey: 'session',
  url: `${network.url}/api/public`,
  authorization: basicAuthorization(network.publicKey, network.secretKey),
  offsetsMs,
});
