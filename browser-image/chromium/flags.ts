/**
 * The command line of Chromium. It takes away what a session has no use for, and all ways to the network but the
 * proxy of the fence. DevTools is spoken on a pipe only; there is no port that others could connect to.
 */

import { createHash, X509Certificate } from 'node:crypto';

export type FlagOptions = {
  /** The folder of the profile, used by nobody else. */
  profile: string;
  /** `host:port` of the forward proxy that every request goes through. */
  proxy: string;
  window: { width: number; height: number };
  /** The certificate, in PEM, of an authority that vouches for the session's addresses. */
  authority?: string | undefined;
  /** Whether pages run in Chromium's own sandbox; as root, and without user namespaces, it refuses to start so. */
  isSandboxed: boolean;
};

/** Chromium's features that talk to others, ask people, or show what is no page. */
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
  // Pages of the browser's own that nobody sees; without them it starts with half the work.
  'WebUIOmniboxAimPopup',
  'WebUIOmniboxFullPopup',
  'WebUIOmniboxPopup',
];

/**
 * What a Chromium asks for by itself a while after its start, whatever its flags: accounts and updates of its maker. No page
 * is behind that, so nobody is told that it was refused.
 */
export const ownHosts: ReadonlySet<string> = new Set([
  'accounts.google.com',
  'clients2.google.com',
  'update.googleapis.com',
]);

/** Everything is resolved by the proxy; the browser itself finds no name and no address. */
const networkFlags = (proxy: string): string[] => [
  `--proxy-server=http://${proxy}`,
  // Without this, localhost and 127.0.0.1 would go past the proxy.
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

/** Takes certificates that have this authority among those sent with them, by the digest of its key. */
const trustFlags = (authority: string | undefined): string[] => {
  if (authority === undefined) return [];
  const key = new X509Certificate(authority).publicKey.export({ type: 'spki', format: 'der' });
  const digest = createHash('sha256').update(key).digest('base64');
  return [`--ignore-certificate-errors-spki-list=${digest}`];
};

/** All arguments, in an order that does not change from one start to the next. */
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
