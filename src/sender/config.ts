/** Reads the configuration of the sender from its environment. No setting weakens the rules for receivers. */
import { type Env, readEnv } from '#runtime/env.ts';
import type { ListenAddress } from '#runtime/listen.ts';
import type { LogLevel } from '#runtime/log.ts';
import { readMetricsListen } from '#runtime/metrics.ts';
import type { Secret } from '#runtime/secret.ts';

export type SenderConfig = {
  /** Internal base address of the control plane. */
  controlUrl: string;
  token: Secret;
  /** Maximum number of concurrent deliveries. */
  atOnce: number;
  /** Addresses that serve metrics and status. If empty, neither is served. */
  metricsListen: ListenAddress[];
  logLevel: LogLevel;
};

const logLevels = ['debug', 'info', 'warn', 'error', 'silent'] as const;

/** Reads the configuration, or throws `invalid` with every mistake in it. */
export const readConfig = (environment: Env): SenderConfig => {
  const env = readEnv(environment);
  const config: SenderConfig = {
    controlUrl: env.url('SVC_CONTROL_URL'),
    token: env.rotatingSecret('SVC_SENDER_TOKEN'),
    atOnce: env.integer('SVC_SENDER_AT_ONCE', { min: 1, max: 10_000, fallback: 256 }),
    metricsListen: readMetricsListen(env),
    logLevel: env.choice('SVC_LOG_LEVEL', logLevels, 'info'),
  };
  env.finish();
  return config;
};
