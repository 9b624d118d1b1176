/**
 * Public addresses of session surfaces behind a gateway. Each surface of each session has a host name of its own,
 * because a vendor's paths and a page's absolute paths need an origin of their own. The configuration of an
 * installation has one template for these addresses, which the control plane fills in and the gateway parses.
 */
import { isId } from './id.ts';
import { type AddressedKind, addressedKinds, type SurfaceKind } from './session.ts';

/** Parts of a template, for example of `https://{session}--{surface}.worlds.example.com`. */
export type SurfaceTemplate = {
  scheme: 'http' | 'https';
  /** Part of the host name after the session and the surface, in lower case: `.worlds.example.com`. */
  suffix: string;
  /** Port with its colon, for example `:8443`; empty for the scheme's default port. */
  port: string;
};

/** Form that a template must have, for messages. */
export const surfaceTemplateForm = 'https://{session}--{surface}.<domain>[:<port>]';

/** Parses a template; undefined if the text does not have the form. */
export const parseSurfaceTemplate = (text: string): SurfaceTemplate | undefined => {
  const [, scheme, domain, port = ''] =
    /^(https?):\/\/\{session\}--\{surface\}((?:\.[a-z\d](?:[a-z\d-]*[a-z\d])?)+)(:\d{1,5})?\/?$/i.exec(
      text,
    ) ?? [];
  if (scheme === undefined || domain === undefined || Number(port.slice(1)) > 65_535) {
    return undefined;
  }
  return { scheme: scheme.toLowerCase() as 'http' | 'https', suffix: domain.toLowerCase(), port };
};

/** Returns the host name of a surface, followed by the template's port if it has one. */
const surfaceHost = (
  { suffix, port }: SurfaceTemplate,
  sessionId: string,
  surface: AddressedKind,
): string => `${sessionId}--${surface}${suffix}${port}`;

/** Returns the base URL of a surface. */
export const surfaceUrl = (
  template: SurfaceTemplate,
  sessionId: string,
  surface: AddressedKind,
): string => `${template.scheme}://${surfaceHost(template, sessionId, surface)}`;

/**
 * Returns the URL of a surface directly at its host, if the host is on this machine. The name is below `localhost`,
 * which browsers resolve to the machine itself, so that each session's pages have an origin of their own. Returns
 * undefined for a host elsewhere, because only a gateway serves the names of surfaces there.
 */
export const localSurfaceUrl = (
  hostAddress: string,
  sessionId: string,
  surface: SurfaceKind,
): string | undefined => {
  const [, port] = /^http:\/\/(?:127(?:\.\d{1,3}){3}|\[::1\]):(\d{1,5})$/.exec(hostAddress) ?? [];
  return port === undefined ? undefined : `http://${sessionId}--${surface}.localhost:${port}`;
};

export type SurfaceName = { sessionId: string; surface: AddressedKind };

/** Parses a label `<session>--<surface>`; undefined if it does not name a surface. */
const readLabel = (label: string): SurfaceName | undefined => {
  const split = label.lastIndexOf('--');
  const sessionId = label.slice(0, Math.max(split, 0));
  const surface = addressedKinds.find((kind) => kind === label.slice(split + 2));
  return surface === undefined || !isId('ses', sessionId) ? undefined : { sessionId, surface };
};

/** Parses the first label of a `Host` header, below any domain; undefined if it does not name a surface. */
export const readSurfaceLabel = (host: string): SurfaceName | undefined =>
  readLabel(host.toLowerCase().split(/[.:]/, 1)[0] ?? '');

/**
 * Returns the surface that a `Host` header names. The port is ignored, because a load balancer may use another port.
 * Returns undefined if the host is not in the template's domain. Returns only `label` if no session can have that
 * label.
 */
export const readSurfaceHost = (
  { suffix }: SurfaceTemplate,
  host: string,
): SurfaceName | { label: string } | undefined => {
  const name = host.toLowerCase().replace(/:\d*$/, '');
  if (!name.endsWith(suffix)) return undefined;
  const label = name.slice(0, -suffix.length);
  return readLabel(label) ?? { label };
};
