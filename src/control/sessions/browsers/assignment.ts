/**
 * Builds the assignment of a browser: the page with the cookie that gives access to it, the origins that the browser
 * may connect to, the link to the session's world host, and the checkpoint. Everything is derived from the session, so
 * a replacement browser gets the same assignment.
 */
import { AppError } from '#domain/error.ts';
import type { SurfaceKind } from '#domain/session.ts';
import { surfaceUrl } from '#domain/surface-address.ts';
import { Secret } from '#runtime/secret.ts';
import { createPasses } from '#runtime/surface-pass.ts';
import { browserKeyPurpose, browserLinkPath } from '#wire/browser-link/exchange.ts';
import type { BrowserAssignment } from '#wire/host-api/browser-operations.ts';
import type { BrowserWork } from '../../db/sessions/browsers.ts';
import { browserToken, sessionToken } from '../../platform/tokens/tokens.ts';
import { surfaceAddress } from '../lifecycle/view.ts';
import type { SessionParts } from '../parts.ts';

type Assigning = Pick<SessionParts, 'config' | 'secrets'>;

/** Returns the session's token, with which the session authenticates at its hosts. */
const tokenOf = ({ secrets }: Assigning, work: BrowserWork): Secret => {
  const secret = secrets.of(work);
  if (secret !== undefined) return new Secret(sessionToken(secret, work.sessionId));
  const message = `${work.sessionId} was opened with a value of SVC_SECRET that this control plane does not have; add that value to SVC_SECRET after the current value`;
  throw new AppError('unavailable', message);
};

/** Returns the cookie that gives a browser access to the session's page, as `name=value`. */
const passOf = ({ config: { gateway } }: Assigning, token: Secret, sessionId: string): string => {
  const signs =
    gateway === null
      ? { token, scheme: 'http' as const }
      : { token: gateway.token, scheme: gateway.template.scheme };
  const [pass = ''] = createPasses(signs).issue({ sessionId, surface: 'ui' }).split(';', 1);
  return pass;
};

/**
 * Returns the address at which clients reach the browser; null if there is no gateway and the host's address is not
 * known. Behind a gateway, the address does not depend on the host.
 */
const clientsAddress = (
  { config: { gateway } }: Assigning,
  { sessionId, address }: BrowserWork,
): string | null =>
  gateway === null ? address : surfaceUrl(gateway.template, sessionId, 'browser');

/** Returns the assignment of a browser; undefined while the session's page has no address. */
export const browserAssignmentOf = (
  parts: Assigning,
  work: BrowserWork,
): BrowserAssignment | undefined => {
  const { sessionId, generation, tier, surfaces, worldAddress, lost, checkpoint, nextPart } = work;
  const placeOf = (surface: SurfaceKind): string | null =>
    surfaceAddress(parts.config, { id: sessionId, hostAddress: worldAddress }, surface);
  const page = placeOf('ui');
  const api = surfaces.includes('api') ? placeOf('api') : null;
  if (page === null) return undefined;
  const token = tokenOf(parts, work);
  const pass = passOf(parts, token, sessionId);
  const split = pass.indexOf('=');
  const address = clientsAddress(parts, work);
  return {
    sessionId,
    generation,
    tier,
    token: browserToken(token),
    entry: `${page}/`,
    cookies: [{ url: `${page}/`, name: pass.slice(0, split), value: pass.slice(split + 1) }],
    reach: [page, ...(api === null ? [] : [api])].map((origin) => ({ origin })),
    link: {
      url: `${page}${browserLinkPath}`,
      cookie: pass,
      key: token.derive(browserKeyPurpose),
    },
    ...(address === null ? {} : { address }),
    lost,
    checkpoint,
    ...(nextPart === null ? {} : { recording: { next: nextPart } }),
  };
};
