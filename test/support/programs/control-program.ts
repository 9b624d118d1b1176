/** Settings of a control plane that runs as a real process, for tests that kill it and for measurements. */
import { randomBytes, randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { freePorts } from './network.ts';

/** Builds the settings, with the ports and the credentials. */
export const controlSettings = async (databaseUrl: string, folder: string) => {
  const ports = await freePorts();
  const [publicKey, secretKey] = [`pk-${randomUUID()}`, `sk-${randomUUID()}`];
  const [poolToken, senderToken] = [randomUUID(), randomUUID()];
  const env = {
    SVC_DATABASE_URL: databaseUrl,
    SVC_LISTEN: `127.0.0.1:${ports.public}`,
    SVC_HOST_LISTEN: `127.0.0.1:${ports.host}`,
    SVC_INTERNAL_LISTEN: `127.0.0.1:${ports.internal}`,
    SVC_BLOB_DIR: join(folder, 'blobs'),
    SVC_WORK_DIR: join(folder, 'work'),
    SVC_SECRET: randomBytes(32).toString('hex'),
    SVC_POOL_TOKEN: poolToken,
    SVC_SENDER_TOKEN: senderToken,
    SVC_BOOTSTRAP_PUBLIC_KEY: publicKey,
    SVC_BOOTSTRAP_SECRET_KEY: secretKey,
  };
  return { env, ports, publicKey, secretKey, poolToken, senderToken };
};
