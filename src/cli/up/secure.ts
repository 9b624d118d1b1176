/** Implements `svc up --tls`: the certificate authority of the folder, and the TLS proxies in front of the programs. */

import type { Authority } from './authority.ts';
import { type DataFolder, makeFolder, type Secrets } from './folder.ts';
import type { Ports } from './ports.ts';

/** Opens the authority of the folder, or creates it. The modules for it are loaded only here. */
export const openSecure = async (folder: DataFolder, secrets: Secrets): Promise<Authority> => {
  const { openAuthority } = await import('./authority.ts');
  makeFolder(folder.tlsDir, 0o711);
  return openAuthority(folder.tlsDir, secrets.installation);
};

/** Serves https at the addresses of the API and the gateway. Resolves with a function that stops both. */
export const openFronts = async (
  { api, gateway, behind }: Ports,
  authority: Authority,
): Promise<() => Promise<void>> => {
  const { createFronts } = await import('./tls-front.ts');
  const fronts = await createFronts(authority);
  try {
    if (behind !== undefined) await fronts.open('the API', api, behind.control);
    if (behind !== undefined && gateway !== undefined) {
      await fronts.open('the gateway', gateway, behind.gateway);
    }
  } catch (error) {
    await fronts.stop();
    throw error;
  }
  return () => fronts.stop();
};
