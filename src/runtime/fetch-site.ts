/**
 * Reads the header `Sec-Fetch-Site`, in which a browser reports the origin of the page that sends a request. No script
 * can set it.
 */

/**
 * Returns true if a page of another origin sends the request, even a page of the same site. Programs do not send the
 * header, and browsers omit it in requests to plain HTTP addresses of other machines.
 */
export const isOtherSite = (site: string | string[] | undefined): boolean =>
  site !== undefined && site !== 'same-origin' && site !== 'none';
