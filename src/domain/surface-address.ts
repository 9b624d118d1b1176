/**
 * The public addresses of session surfaces behind a gateway: one host for each session and surface,
 * because a vendor's paths and a page's absolute paths need an origin of their own. An installation says
 * how they look by one template, which the control plane fills in and the gateway reads back.
 */
import { isId } from './id.ts';
import { type AddressedKind, addressedKinds, type SurfaceKind } from './session.ts';

/** For example `https://{session}--{surface}.worlds.example.com`, taken apart. */
export type SurfaceTemplate = {
  scheme: 'http' | 'https';
  /** What follows the session and the surface in the host: `.worlds.example.com`, in lower case. */
  suffix: string;
  /** `:8443`, or nothing where the scheme's own port is meant. */
  port: string;
};

/** How a template has to look, for messages. */
export const surfaceTemplateForm = 'https://{session}--{surface}.<domain>[:<port>]';

/** Takes a template apart; undefined when it does not have the form. */
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

/** The host of a surface, with its port where the template has one. */
const surfaceHost = (
  { suffix, port }: SurfaceTemplate,
  sessionId: string,
  surface: AddressedKind,
): string => `${sessionId}--${surface}${suffix}${port}`;

/** The base address of a surface. */
export const surfaceUrl = (
  template: SurfaceTemplate,
  sessionId: string,
  surface: AddressedKind,
): string => `${template.scheme}://${surfaceHost(template, sessionId, surface)}`;

/**
 * The address of a surface at the host that serves it, where that is on this machine: a name below `localhost`,
 * which browsers take for the machine itself, so that each session's pages have an origin of their own. Undefined
 * for a host elsewhere, which only a gateway gives such names.
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

/** Whose surface a label names: `<session>--<surface>`; undefined when it is none. */
const readLabel = (label: string): SurfaceName | undefined => {
  const split = label.lastIndexOf('--');
  const sessionId = label.slice(0, Math.max(split, 0));
  const surface = addressedKinds.find((kind) => kind === label.slice(split + 2));
  return surface === undefined || !isId('ses', sessionId) ? undefined : { sessionId, surface };
};

/** Whose surface the first label of a `Host` names, below whatever domain; undefined when it names none. */
export const readSurfaceLabel = (host: string): SurfaceName | undefined =>
  readLabel(host.toLowerCase().split(/[.:]/, 1)[0] ?? '');

/**
 * Whose surface a `Host` names; the port is not looked at, as a balancer may have another. Undefined
 * when it is no host of the template's domain, `label` alone when it is one that no session can have.
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
