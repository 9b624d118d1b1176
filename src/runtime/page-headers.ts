/**
 * Headers of every page that this product serves. They isolate a page from pages of other origins. Where the browser
 * supports `Connection-Allowlist` (Chromium), they also block every address but the page's own. The
 * `Content-Security-Policy` of a page, which limits what the page loads and runs, differs between pages and is defined
 * where each page is served.
 *
 * CSP also has a directive `webrtc`. It is not sent, because Chromium 156 does not know it and writes an error into the
 * console of each page that has it. The allowlist blocks WebRTC instead.
 */

/** Browser features that no page of this product uses: devices, payments, identities, and advertising. */
const switchedOff = [
  ...['camera', 'microphone', 'geolocation', 'display-capture', 'payment', 'usb', 'serial', 'hid'],
  ...['midi', 'idle-detection', 'local-fonts', 'window-management'],
  ...['identity-credentials-get', 'otp-credentials', 'publickey-credentials-get'],
];

/**
 * Headers that deny a page access to what no page of this product needs: pages of other origins, devices, DNS prefetch.
 */
export const apartHeaders = {
  'x-content-type-options': 'nosniff',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': switchedOff.map((feature) => `${feature}=()`).join(', '),
  'x-dns-prefetch-control': 'off',
} as const;

/**
 * Limits a page's connections of every kind to its own origin: requests, navigation, new tabs, forms, preconnect,
 * WebRTC. Redirects are followed, so an origin that serves untrusted code must not send redirects to other origins.
 */
export const ownConnections = { 'connection-allowlist': '(response-origin); redirects=allow' };

/** Blocks every connection of a page, including connections to its own origin. */
export const noConnections = { 'connection-allowlist': '()' };
