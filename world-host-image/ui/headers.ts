/**
 * Headers that keep a UI's origin to itself: it loads nothing from elsewhere, is shown in no frame, and no other
 * page reads what it serves or sends it anything. Other sessions' pages may be of the same site, so `SameSite` of a
 * cookie alone does not keep them out.
 */
import type { UiAnswer } from './service.ts';

const always = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'origin-agent-cluster': '?1',
  'permissions-policy':
    'camera=(), microphone=(), geolocation=(), display-capture=(), payment=(), usb=(), serial=(), hid=()',
};

/** Pages are written by anybody, often with scripts and styles in them; none may leave its origin. */
const pagePolicy = [
  "default-src 'self' data: blob:",
  "script-src 'self' 'unsafe-inline' 'wasm-unsafe-eval' blob:",
  "style-src 'self' 'unsafe-inline'",
  "connect-src 'self' data: blob:",
  "object-src 'none'",
  "base-uri 'self'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ');

/** What an API answers is shown by itself only by mistake, and runs nothing then. */
const dataPolicy =
  "default-src 'none'; style-src 'unsafe-inline'; img-src 'self' data:; frame-ancestors 'none'; sandbox";

/** The answer with the headers of the origin; `kind` says whether pages of the world's author are among these answers. */
export const withOriginHeaders = (answer: UiAnswer, kind: 'page' | 'data'): UiAnswer => ({
  ...answer,
  headers: {
    ...answer.headers,
    ...always,
    'content-security-policy': kind === 'page' ? pagePolicy : dataPolicy,
  },
});
