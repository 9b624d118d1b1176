/** What a browser program is told besides where it is a host of the service. */
import { type Env, readEnv } from '#runtime/env.ts';

export type HostConfig = {
  /** Base address of the control plane, without a path. */
  controlUrl: string;
  hostId: string;
  /** The generation that the host was launched with. */
  generation: number;
  /** Where its token is read from; `-` is standard input. */
  tokenFile: string;
  /** Whether the host tells its own address, as the only one to know it. */
  reportAddress: boolean;
  /** Whether its surfaces are reached by their addresses, or through the control plane. */
  way: 'direct' | 'tunnel';
};

/** Reads it; undefined where whoever started the program drives it by lines. Throws `invalid` naming every mistake. */
export const readHostConfig = (env: Env): HostConfig | undefined => {
  const read = readEnv(env);
  if (read.optionalText('SVC_CONTROL_URL') === undefined) return undefined;
  const config: HostConfig = {
    controlUrl: read.url('SVC_CONTROL_URL'),
    hostId: read.text('SVC_HOST_ID'),
    generation: read.integer('SVC_HOST_GENERATION', { min: 0, max: 2 ** 31 }),
    tokenFile: read.text('SVC_HOST_TOKEN_FILE'),
    reportAddress: read.choice('SVC_REPORT_ADDRESS', ['yes', 'no'], 'no') === 'yes',
    way: read.choice('SVC_BROWSER_WAY', ['direct', 'tunnel'], 'direct'),
  };
  read.finish();
  return config;
};
