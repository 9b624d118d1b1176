/**
 * Reads `Sec-Fetch-Site`, in which a browser reports the origin of the page that sends a request. No script can set
 * it.
 */

/**
 * Returns true if a page of another origin sends the request, of the same site or not. Programs do not send the
 * header, and browsers omit it to plain HTTP addresses of other machines.
 */
export const isOtherSite = (site: string | string[] | undefined): boolean =>
  site !== undefined && site !== 'same-origin' && site !== 'none';
