/** Keys of the table `[api]`: defaults for every route of a world. */
import {
  distinct,
  filledText,
  flag,
  integer,
  kind,
  listOf,
  mapOf,
  text,
  textMatching,
  textOrTable,
  textThat,
} from '../../read/kinds.ts';
import {
  defaulted,
  defaultedTable,
  described,
  optional,
  type TableOf,
  tableOf,
} from '../../read/table.ts';
import { faultsKeys } from './faults.ts';
import { errorStatus, lastModified, mediaTypes, pageKey } from './operations.ts';
import { rateLimitsKey } from './rate-limits.ts';

/** Path of a code file in the tree. Only its ending is checked here; other rules of the tree check the rest. */
const pythonOrTypeScript = textThat(
  'the path of a .py or .ts file in the world',
  (path) => /^[^/\\].*\.(py|ts)$/.test(path) && !path.split('/').includes('..'),
);

const jsonError = (name: string): string => JSON.stringify({ error: name });

const key = textMatching('a key of 1 to 200 characters', /^[\s\S]{1,200}$/);
const keyOrNone = textMatching('a key of at most 200 characters', /^[\s\S]{0,200}$/);
const parameter = textMatching('a query parameter', /^[^\s&=#?[\]]{1,200}$/);
/** Pattern of a header name in HTTP. */
export const headerPattern = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,200}$/;
const headerName = textMatching('a header name', headerPattern);

/** Pattern of a path prefix that ends at the end of a segment. */
export const pathBeginningPattern = /^(?:\/(?!\.{1,2}(?:\/|$))[A-Za-z0-9._~-]{1,100}){1,8}$/;
const pathBeginning = textMatching(
  'a path that begins with "/" and does not end with it',
  pathBeginningPattern,
);

const error = (what: string): string => `Body when ${what}, as JSON text; "" for none.`;

/** Error as a text with the body, or as a table with body and status. A missing body or status is that of `invalid`. */
const causeAnswer = textOrTable<{ body?: string | undefined; status?: number | undefined }>(
  kind(text.schema ?? {}, (place, value) => {
    const body = text(place, value);
    return body === undefined ? undefined : { body };
  }),
  tableOf({
    body: described(error('this is wrong'), optional(text)),
    status: described('Its status.', optional(errorStatus)),
  }),
);

export const apiKeys = {
  envelope: described(
    'Key that rows are answered under; "" answers the list itself.',
    defaulted(keyOrNone, ''),
  ),
  hits_key: described(
    'Key of the count of all rows; "" leaves it out.',
    defaulted(keyOrNone, 'hits'),
  ),
  cursor_key: described('Key of the next cursor.', defaulted(key, 'cursor')),
  cursor_absent_when_done: described(
    'Leave the cursor out on the last page instead of sending it empty.',
    defaulted(flag, false),
  ),
  previous_key: described("Key of the previous page's cursor.", optional(key)),
  page_headers: described(
    'Headers that carry the next cursor, the count of all rows and the previous cursor.',
    defaultedTable({
      cursor: described('Header of the next cursor.', optional(headerName)),
      total: described('Header of the count of all rows.', optional(headerName)),
      previous: described('Header of the previous cursor.', optional(headerName)),
    }),
  ),
  page_links: described('Send next and previous as absolute URLs.', defaulted(flag, false)),
  page: pageKey,
  page_size: described(
    'Rows on a page unless the request asks for another number.',
    defaulted(integer(1, 10_000), 100),
  ),
  limit_param: described('Parameter for the size of a page.', defaulted(parameter, 'limit')),
  offset_param: described('Parameter for the start of a page.', defaulted(parameter, 'offset')),
  cursor_param: described('Parameter for the cursor of a page.', defaulted(parameter, 'cursor')),
  unauthorized: described(
    error('the credential is missing or wrong'),
    defaulted(text, jsonError('unauthorized')),
  ),
  unauthorized_status: described('Its status.', defaulted(errorStatus, 401)),
  not_found: described(
    error('there is no such row or route'),
    defaulted(text, jsonError('not_found')),
  ),
  not_found_status: described('Its status.', defaulted(errorStatus, 404)),
  invalid: described(
    `${error('a request is rejected')} {param}, {field} and {message} in its texts stand for what is wrong.`,
    defaulted(text, jsonError('invalid')),
  ),
  invalid_status: described('Its status.', defaulted(errorStatus, 400)),
  invalid_by: described(
    'Answers in place of "invalid", by what is wrong.',
    defaultedTable({
      duplicate: described('For a key that another row has.', optional(causeAnswer)),
      reference: described(
        'For a reference to a missing row, and for a row that others refer to.',
        optional(causeAnswer),
      ),
      shape: described('For a row or a body that does not fit its schema.', optional(causeAnswer)),
    }),
  ),
  error_content_type: described(
    'Media type of errors, for vendors that answer them as text or XML.',
    defaulted(
      textMatching('a media type', /^[\w.+-]+\/[\w.+-]+(\s*;[\x20-\x7e]*)?$/),
      'application/json',
    ),
  ),
  token_path: described(
    'Path on which the world mints bearers, for "oauth2". Default: that of token_url.',
    optional(textMatching('a path that begins with "/"', /^\/(?!\/)[^\s?#{}]*$/)),
  ),
  prefixes: described(
    'Prefixes under which all routes answer as well, such as "/api/v3".',
    defaulted(distinct(listOf(pathBeginning, { most: 10 })), []),
  ),
  aliases: described(
    'Beginnings of paths that stand for others, as an older version of the API may: "/rest/api/2" = "/rest/api/3".',
    defaulted<Map<string, string>>(mapOf(pathBeginning), new Map()),
  ),
  media_types: described(
    'Media types that all routes answer in, beside JSON. Requests that accept none are refused.',
    optional<string[]>(distinct(mediaTypes)),
  ),
  not_acceptable_status: described(
    'Status for requests that accept no media type of the route.',
    defaulted(errorStatus, 406),
  ),
  last_modified: lastModified,
  handlers: described(
    'Module with the functions that "handler" and "before" name.',
    defaulted(pythonOrTypeScript, 'api/handlers.py'),
  ),
  check_requests: described(
    'Whether bodies that do not fit "request" are refused before the handler runs. false: the handler words what it refuses, and "request" appears only in openapi.json.',
    defaulted(flag, true),
  ),
  before: described('Function that runs before every route.', optional(filledText())),
  keep_answers: described(
    'Whether what handlers answer to GET follows from request and rows alone, so that hosts may answer it again without running code.',
    defaulted(flag, false),
  ),
  rate_limits: rateLimitsKey,
  faults: described('Faults that the API produces on purpose.', defaultedTable(faultsKeys)),
};
export type ApiTable = TableOf<typeof apiKeys>;
