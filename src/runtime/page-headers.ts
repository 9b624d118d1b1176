/**
 * Headers of every page that this product serves. They keep a page from other origins' pages and, where the browser
 * knows `Connection-Allowlist` (Chromium), from every address but its own. What a page may load and run is in its
 * `Content-Security-Policy`, which differs from page to page and stands where the page is served.
 *
 * CSP has a directive `webrtc` too. It is not sent: Chromium 156 does not know it and writes an error into the console
 * of each page that has it, while the allowlist stops WebRTC there.
 */

/** Features of browsers that no page of ours uses: devices, payments, identities, and what advertising sends. */
const switchedOff = [
  ...['camera', 'microphone', 'geolocation', 'display-capture', 'payment', 'usb', 'serial', 'hid'],
  ...['midi', 'idle-detection', 'local-fonts', 'window-management'],
  ...['identity-credentials-get', 'otp-credentials', 'publickey-credentials-get'],
];

/** Headers that close to our pages what none needs: other pages, a person's devices, a resolver. */
export const apartHeaders = {
  'x-content-type-options': 'nosniff',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': switchedOff.map((feature) => `${feature}=()`).join(', '),
  'x-dns-prefetch-control': 'off',
} as const;

/**
 * Keeps a page's connections to its own origin, of every kind: requests, navigation, new tabs, forms, preconnect,
 * WebRTC. Redirects are followed, so an origin at which a stranger's code answers must not send any that leave it.
 */
export const ownConnections = { 'connection-allowlist': '(response-origin); redirects=allow' };

/** Keeps a page from every connection, its own origin's too. */
export const noConnections = { 'connection-allowlist': '()' };
