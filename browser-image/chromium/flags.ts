/**
 * Builds Chromium's command line. It disables features that a session does not need, and every way to the network
 * except the egress proxy (policy/proxy.ts). DevTools uses a pipe only, so there is no port that another process could
 * connect to.
 */

import { createHash, X509Certificate } from 'node:crypto';

export type FlagOptions = {
  /** Folder of the profile, used by this Chromium alone. */
  profile: string;
  /** `host:port` of the forward proxy that every request goes through. */
  proxy: string;
  window: { width: number; height: number };
  /** Certificate, in PEM, of a certificate authority for the session's surfaces. */
  authority?: string | undefined;
  /**
   * True to run pages in Chromium's own sandbox. Chromium refuses to start with it as root or without user namespaces.
   */
  isSandboxed: boolean;
};

/** Chromium features that contact other servers, prompt the user, or show UI that is not a page. */
const disabledFeatures = [
  'AutofillServerCommunication',
  'CertificateTransparencyComponentUpdater',
  'DestroyProfileOnBrowserClose',
  'DialMediaRouteProvider',
  'GlobalMediaControls',
  'HttpsUpgrades',
  'InterestFeedContentSuggestions',
  'LensOverlay',
  'MediaRouter',
  'OptimizationHints',
  'PaintHolding',
  'ThirdPartyStoragePartitioning',
  'Translate',
  // Chromium's own UI pages, which are never shown; without them a start takes half the work.
  'WebUIOmniboxAimPopup',
  'WebUIOmniboxFullPopup',
  'WebUIOmniboxPopup',
];

/**
 * Hosts that Chromium itself contacts some time after its start, whatever its flags: accounts and updates of its
 * vendor. No page causes these requests, so their refusal is not reported.
 */
export const ownHosts: ReadonlySet<string> = new Set([
  'accounts.google.com',
  'clients2.google.com',
  'update.googleapis.com',
]);

/**
 * Returns flags that leave all name resolution to the proxy; Chromium itself resolves no name and reaches no address.
 */
const networkFlags = (proxy: string): string[] => [
  `--proxy-server=http://${proxy}`,
  // Without this, requests to localhost and 127.0.0.1 would bypass the proxy.
  '--proxy-bypass-list=<-loopback>',
  `--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE ${proxy.split(':')[0]}`,
  '--disable-quic',
  '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
  '--webrtc-ip-handling-policy=disable_non_proxied_udp',
];

const quietFlags = [
  '--allow-pre-commit-input',
  '--disable-background-networking',
  '--disable-background-timer-throttling',
  '--disable-backgrounding-occluded-windows',
  '--disable-breakpad',
  '--disable-client-side-phishing-detection',
  '--disable-component-extensions-with-background-pages',
  '--disable-component-update',
  '--disable-crash-reporter',
  '--disable-default-apps',
  '--disable-dev-shm-usage',
  '--disable-domain-reliability',
  '--disable-extensions',
  '--disable-field-trial-config',
  '--disable-gpu',
  '--disable-hang-monitor',
  '--disable-infobars',
  '--disable-ipc-flooding-protection',
  '--disable-popup-blocking',
  '--disable-prompt-on-repost',
  '--disable-renderer-backgrounding',
  '--disable-search-engine-choice-screen',
  '--disable-sync',
  '--enable-use-zoom-for-dsf=false',
  '--force-color-profile=srgb',
  '--hide-scrollbars',
  '--metrics-recording-only',
  '--mute-audio',
  '--no-default-browser-check',
  '--no-first-run',
  '--no-pings',
  '--no-service-autorun',
  '--password-store=basic',
  '--use-mock-keychain',
];

/**
 * Returns flags that accept certificates whose chain contains this authority, which is matched by the digest of its
 * key.
 */
const trustFlags = (authority: string | undefined): string[] => {
  if (authority === undefined) return [];
  const key = new X509Certificate(authority).publicKey.export({ type: 'spki', format: 'der' });
  const digest = createHash('sha256').update(key).digest('base64');
  return [`--ignore-certificate-errors-spki-list=${digest}`];
};

/** Returns all arguments, in the same order at every start. */
export const chromiumFlags = ({
  profile,
  proxy,
  window,
  authority,
  isSandboxed,
}: FlagOptions): string[] => [
  '--headless=new',
  '--remote-debugging-pipe',
  `--user-data-dir=${profile}`,
  `--window-size=${window.width},${window.height}`,
  ...networkFlags(proxy),
  ...quietFlags,
  `--disable-features=${disabledFeatures.join(',')}`,
  ...trustFlags(authority),
  ...(isSandboxed ? [] : ['--no-sandbox']),
  'about:blank',
];
