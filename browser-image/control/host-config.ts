/**
 * Reads the environment variables that the browser program needs, besides its own, when it is a host of the service.
 */
import { type Env, readEnv } from '#runtime/env.ts';

export type HostConfig = {
  /** Base address of the control plane, without a path. */
  controlUrl: string;
  hostId: string;
  /** Generation that the host was launched with. */
  generation: number;
  /** File that the host's token is read from; `-` is standard input. */
  tokenFile: string;
  /** True if the host reports its own address, because only it knows the address. */
  reportAddress: boolean;
  /** Route by which the browser reaches the surfaces: directly at their addresses, or through the control plane. */
  route: 'direct' | 'tunnel';
};

/**
 * Reads the configuration; returns undefined if no control plane is named, since lines then control the program. Throws
 * `invalid` naming every mistake.
 */
export const readHostConfig = (env: Env): HostConfig | undefined => {
  const read = readEnv(env);
  if (read.optionalText('SVC_CONTROL_URL') === undefined) return undefined;
  const config: HostConfig = {
    controlUrl: read.url('SVC_CONTROL_URL'),
    hostId: read.text('SVC_HOST_ID'),
    generation: read.integer('SVC_HOST_GENERATION', { min: 0, max: 2 ** 31 }),
    tokenFile: read.text('SVC_HOST_TOKEN_FILE'),
    reportAddress: read.choice('SVC_REPORT_ADDRESS', ['yes', 'no'], 'no') === 'yes',
    route: read.choice('SVC_BROWSER_WAY', ['direct', 'tunnel'], 'direct'),
  };
  read.finish();
  return config;
};
