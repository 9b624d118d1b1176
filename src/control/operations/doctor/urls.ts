/** Checks that clients can use the addresses that the service gives them, and that the certificates are valid. */
import { once } from 'node:events';
import { isIP } from 'node:net';
import { connect, type TLSSocket } from 'node:tls';
import type { Parts } from '../../parts.ts';
import { type Finding, failed, ok, warning } from './finding.ts';

const connectMs = 5_000;
const soonDays = 14;
const dayMs = 86_400_000;

const isLocal = (hostname: string): boolean =>
  hostname === 'localhost' || hostname === '[::1]' || hostname.startsWith('127.');

/**
 * Returns the number of days until the certificate at an address expires. Throws if the address has no certificate that
 * a client would accept.
 */
const certificateDays = async ({ hostname, port }: URL): Promise<number> => {
  const socket: TLSSocket = connect({
    host: hostname.replace(/^\[|\]$/g, ''),
    port: Number(port || 443),
    // IP addresses are not allowed as server names (RFC 6066, 3).
    ...(isIP(hostname.replace(/^\[|\]$/g, '')) === 0 ? { servername: hostname } : {}),
    timeout: connectMs,
  });
  socket.once('timeout', () => socket.destroy(new Error(`no answer in ${connectMs / 1_000} s`)));
  try {
    await once(socket, 'secureConnect');
    const { valid_to: end } = socket.getPeerCertificate();
    return (Date.parse(end) - Date.now()) / dayMs;
  } finally {
    socket.destroy();
  }
};

const checkCertificate = async (url: URL): Promise<Finding> => {
  try {
    const days = await certificateDays(url);
    const left = `the certificate of ${url.hostname} is good for ${Math.floor(days)} days`;
    return days < soonDays
      ? warning(left, 'renew the certificate; if cert-manager should renew it, check cert-manager')
      : ok(left);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return failed(
      `clients cannot reach ${url.origin}: ${why}`,
      'check the ingress, the name in DNS, and the certificate',
    );
  }
};

/**
 * Checks the public address of the service. Host names of the gateway are not checked, because each session has its
 * own.
 */
export const checkUrls = async ({ config, publicUrl }: Parts): Promise<Finding> => {
  const url = new URL(publicUrl());
  if (config.publicUrl === null && !config.listen.public.every(({ host }) => isLocal(host))) {
    return warning(
      `SVC_PUBLIC_URL is not set; clients get the address ${url.origin}`,
      'set SVC_PUBLIC_URL to the address of the balancer or ingress',
    );
  }
  if (url.protocol === 'https:') return checkCertificate(url);
  if (isLocal(url.hostname)) return ok(`${url.origin}, which only this machine reaches`);
  return warning(
    `${url.origin} is not https: keys are sent unencrypted`,
    'put TLS before the control plane and set SVC_PUBLIC_URL to an https address',
  );
};
