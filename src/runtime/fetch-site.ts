/** `Sec-Fetch-Site`: what a browser says of the page that sends a request. No script can set it. */

/**
 * Returns true if a browser says that a page of another origin sends the request, of the same site or not. Programs do
 * not send the header, and browsers do not to addresses of plain HTTP on other machines.
 */
export const isOtherSite = (site: string | string[] | undefined): boolean =>
  site !== undefined && site !== 'same-origin' && site !== 'none';
