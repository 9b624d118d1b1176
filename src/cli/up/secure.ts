/** `svc up --tls`: the authority of the folder, and the fronts that speak https before the programs. */
import { type DataFolder, makeFolder, type Secrets } from './folder.ts';
import { findFreePort } from './free-port.ts';
import type { Secure, Site } from './site.ts';

/** The authority, made or kept, and ports for the programs behind the fronts. What it needs loads only here. */
export const openSecure = async (folder: DataFolder, secrets: Secrets): Promise<Secure> => {
  const { openAuthority } = await import('./authority.ts');
  makeFolder(folder.tlsDir, 0o711);
  const authority = await openAuthority(folder.tlsDir, secrets.installation);
  return {
    authority,
    controlPort: await findFreePort(),
    gatewayPort: await findFreePort(),
  };
};

/** Serves both addresses that clients use; resolves with what ends that. */
export const openFronts = async (
  { port, gatewayPort }: Pick<Site, 'port' | 'gatewayPort'>,
  secure: Secure,
): Promise<() => Promise<void>> => {
  const { createFronts } = await import('./tls-front.ts');
  const fronts = await createFronts(secure.authority);
  try {
    await fronts.open('the API', port, secure.controlPort);
    if (gatewayPort !== undefined) {
      await fronts.open('the gateway', gatewayPort, secure.gatewayPort);
    }
  } catch (error) {
    await fronts.stop();
    throw error;
  }
  return () => fronts.stop();
};
