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
  'a path that begins with "/" and does not end with "/"',
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
    body: described('Body of the answer in this case, as JSON text; "" for none.', optional(text)),
    status: described('Status of the answer.', optional(errorStatus)),
  }),
);

export const apiKeys = {
  envelope: described(
    'Key under which answers have the rows; "" if the answer is the list itself.',
    defaulted(keyOrNone, ''),
  ),
  hits_key: described(
    'Key of the number of all rows; "" if answers do not have the number.',
    defaulted(keyOrNone, 'hits'),
  ),
  cursor_key: described('Key of the next cursor.', defaulted(key, 'cursor')),
  cursor_absent_when_done: described(
    'Whether the last page lacks the cursor, instead of having an empty one.',
    defaulted(flag, false),
  ),
  previous_key: described("Key of the previous page's cursor.", optional(key)),
  page_headers: described(
    'Headers for the next cursor, the number of all rows and the previous cursor.',
    defaultedTable({
      cursor: described('Header for the next cursor.', optional(headerName)),
      total: described('Header for the number of all rows.', optional(headerName)),
      previous: described('Header for the previous cursor.', optional(headerName)),
    }),
  ),
  page_links: described(
    'Whether the next and the previous page are sent as absolute URLs.',
    defaulted(flag, false),
  ),
  page: pageKey,
  page_size: described(
    'Number of rows on a page, unless the request names another number.',
    defaulted(integer(1, 10_000), 100),
  ),
  limit_param: described(
    'Query parameter for the number of rows on a page.',
    defaulted(parameter, 'limit'),
  ),
  offset_param: described(
    "Query parameter for the index of a page's first row.",
    defaulted(parameter, 'offset'),
  ),
  cursor_param: described(
    'Query parameter for the cursor of a page.',
    defaulted(parameter, 'cursor'),
  ),
  unauthorized: described(
    error('the credential is missing or wrong'),
    defaulted(text, jsonError('unauthorized')),
  ),
  unauthorized_status: described('Status of the answer.', defaulted(errorStatus, 401)),
  not_found: described(
    error('there is no such row or route'),
    defaulted(text, jsonError('not_found')),
  ),
  not_found_status: described('Status of the answer.', defaulted(errorStatus, 404)),
  invalid: described(
    `${error('a request is rejected')} {param}, {field} and {message} in its texts are replaced by what is wrong.`,
    defaulted(text, jsonError('invalid')),
  ),
  invalid_status: described('Status of the answer.', defaulted(errorStatus, 400)),
  invalid_by: described(
    'Answers in place of "invalid", by cause.',
    defaultedTable({
      duplicate: described('Answer for a row whose key another row has.', optional(causeAnswer)),
      reference: described(
        'Answer for a reference to a missing row, and for the deletion of a row to which other rows refer.',
        optional(causeAnswer),
      ),
      shape: described(
        'Answer for a row or a body that does not fit its schema.',
        optional(causeAnswer),
      ),
    }),
  ),
  error_content_type: described(
    'Media type of error answers, for vendors whose errors are text or XML.',
    defaulted(
      textMatching('a media type', /^[\w.+-]+\/[\w.+-]+(\s*;[\x20-\x7e]*)?$/),
      'application/json',
    ),
  ),
  token_path: described(
    'Path on which the world mints bearer tokens, for "oauth2". Default: the path of token_url.',
    optional(textMatching('a path that begins with "/"', /^\/(?!\/)[^\s?#{}]*$/)),
  ),
  prefixes: described(
    'Path prefixes under which all routes also answer, such as "/api/v3".',
    defaulted(distinct(listOf(pathBeginning, { most: 10 })), []),
  ),
  aliases: described(
    'Path prefixes that are aliases of other prefixes, for example of an older version of the API: "/rest/api/2" = "/rest/api/3".',
    defaulted<Map<string, string>>(mapOf(pathBeginning), new Map()),
  ),
  media_types: described(
    'Media types in which all routes answer, besides JSON. Requests that accept none of them are refused.',
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
    'Whether bodies that do not fit "request" are refused before the handler runs. false: the handler itself refuses them, and "request" appears only in openapi.json.',
    defaulted(flag, true),
  ),
  before: described('Function that runs before every route.', optional(filledText())),
  keep_answers: described(
    'Whether the answers of handlers to GET depend only on the request and the rows, so that hosts may cache them.',
    defaulted(flag, false),
  ),
  rate_limits: rateLimitsKey,
  faults: described('Faults that the API produces on purpose.', defaultedTable(faultsKeys)),
};
export type ApiTable = TableOf<typeof apiKeys>;
