/** The origin that a client called, for links and addresses in the answers to it. */

/** A host with an optional port; what else a client may send there belongs in no link. */
const hostPattern = /^(?:[\w.-]{1,253}|\[[\da-f:.]{2,45}\])(?::\d{1,5})?$/i;

/**
 * `https` behind a proxy that says so; undefined for a client that names no host. `headers` have names in
 * lower case.
 */
export const calledOrigin = (headers: Readonly<Record<string, string>>): string | undefined => {
  const { host = '' } = headers;
  const isSecure = headers['x-forwarded-proto']?.split(',')[0]?.trim() === 'https';
  return hostPattern.test(host) ? `${isSecure ? 'https' : 'http'}://${host}` : undefined;
};
