/** The load that opens sessions of a service, each called once and closed. */
import { basicAuthorization } from '#wire/client.ts';
import type { Network } from '../../test/support/programs/network.ts';
import type { LoadJob } from './arrivals.ts';

/** Builds a load that opens sessions at these moments; the world of notes must exist. */
export const sessionJob = (network: Network, offsetsMs: readonly number[]): LoadJob => ({
  journey: 'session',
  url: `${network.url}/api/public`,
  authorization: basicAuthorization(network.publicKey, network.secretKey),
  offsetsMs,
});
