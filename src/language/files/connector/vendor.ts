/**
 * Keys of `[connector]`, `[auth]` and `[capture]`: the vendor that a world simulates, its credentials, and the request
 * rate of captures. The file names environment variables and never contains a credential.
 */
import { type AuthScheme, authSchemes } from '../../contract.ts';
import {
  filledText,
  integer,
  mapOf,
  oneOf,
  text,
  textMatching,
  textThat,
} from '../../read/kinds.ts';
import { defaulted, described, optional, required, type TableOf } from '../../read/table.ts';

/** Maximum length of a base URL in characters, because answers may contain it many times. */
const maxBaseUrl = 255;

const isBaseUrl = (written: string): boolean => {
  const url = URL.parse(written);
  if (url === null || !/^https?:\/\/[^/]/i.test(written) || written.length > maxBaseUrl)
    return false;
  if (/[?#\s"\\<>{}|^`]/.test(written)) return false;
  return url.username === '' && url.password === '';
};

const isTokenUrl = (url: string): boolean =>
  /^https?:\/\/[^/]/i.test(url) && !/[#\s]/.test(url) && URL.canParse(url);

export const connectorKeys = {
  slug: described(
    'Short name of the vendor: lower-case letters, digits, hyphens. It is the salt of redacted values.',
    required(textMatching('lower-case letters, digits and hyphens', /^[a-z0-9-]{1,128}$/), ''),
  ),
  base_url: described(
    "Address of the vendor's API: an http or https origin with an optional path.",
    required(
      textThat(
        'an http or https URL without query and fragment, of at most 255 characters',
        isBaseUrl,
      ),
      '',
    ),
  ),
};

const variableName = textMatching(
  'the name of an environment variable',
  /^[A-Za-z_][A-Za-z0-9_]*$/,
);

export const authKeys = {
  scheme: described(
    'Scheme by which the vendor expects its credential.',
    required<AuthScheme>(oneOf(authSchemes), 'none'),
  ),
  name: described(
    'Name of the header or query parameter with the credential, for "header" and "query".',
    optional(textMatching('a name without spaces', /^[^\s]{1,200}$/)),
  ),
  secret_env: described('Environment variable that holds the credential.', optional(variableName)),
  headers: described(
    'Further credential headers: header name to environment variable.',
    defaulted<Map<string, string>>(mapOf(variableName), new Map()),
  ),
  token_url: described(
    'Address at which tokens are minted, for "oauth2": a path below base_url, or an absolute URL. Default: /oauth/token.',
    optional(
      textThat(
        'a path or an http or https URL',
        (url) => /^\/(?!\/)[^\s?#]*$/.test(url) || isTokenUrl(url),
      ),
    ),
  ),
  client_id_env: described(
    'Environment variable that holds the client id, for "oauth2".',
    optional(variableName),
  ),
  scope: described('Scope that is requested, for "oauth2".', optional(filledText())),
};
export type AuthTable = TableOf<typeof authKeys>;

export const captureKeys = {
  requests_per_minute: described(
    'Maximum number of requests per minute.',
    defaulted(integer(1, 60_000), 30),
  ),
  timeout_seconds: described(
    'Time limit of one request, in seconds.',
    defaulted(integer(1, 3_600), 30),
  ),
  max_pages: described(
    'Maximum number of pages that one capture requests.',
    defaulted(integer(1, 10_000), 5),
  ),
  cursor_param: described(
    'Request parameter for the next cursor. It requires cursor_field or cursor_header.',
    optional(filledText(200)),
  ),
  cursor_field: described(
    "Field of an answer's body with the next cursor. If the field is empty or null, there is no further page.",
    optional(text),
  ),
  cursor_header: described(
    'Header of an answer with the next cursor.',
    optional(textMatching('a header name', /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,200}$/)),
  ),
};
export type CaptureTable = TableOf<typeof captureKeys>;
