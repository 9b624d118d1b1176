/**
 * What a browser is told of its session: the page and the passes that let it in, all that it may reach, how it speaks
 * with the session's world host, and what it goes on from. All of it is derived from the session, so that the next browser is
 * told the same.
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

/** The session's token, by which it is known at its hosts. */
const tokenOf = ({ secrets }: Assigning, work: BrowserWork): Secret => {
  const secret = secrets.of(work);
  if (secret !== undefined) return new Secret(sessionToken(secret, work.sessionId));
  const message = `${work.sessionId} was opened with a value of SVC_SECRET that this control plane does not have; give it that value after the present one`;
  throw new AppError('unavailable', message);
};

/** The pass with which a browser enters the page, as `name=value`. */
const passOf = ({ config: { gateway } }: Assigning, token: Secret, sessionId: string): string => {
  const signs =
    gateway === null
      ? { token, scheme: 'http' as const }
      : { token: gateway.token, scheme: gateway.template.scheme };
  const [pass = ''] = createPasses(signs).issue({ sessionId, surface: 'ui' }).split(';', 1);
  return pass;
};

/** Where clients of the browser come to; behind a gateway that is known whoever serves them. */
const clientsAddress = (
  { config: { gateway } }: Assigning,
  { sessionId, address }: BrowserWork,
): string | null =>
  gateway === null ? address : surfaceUrl(gateway.template, sessionId, 'browser');

/** What a browser is told; undefined while the session's page is nowhere yet. */
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
