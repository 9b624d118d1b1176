/**
 * Builds the answer to a request that could not be read, for example because its path does not allow the method, or its
 * body is invalid or too large. The answer has the shape of the vendor's `invalid` error. If that error's body has
 * placeholders, they are filled. Without placeholders, the message in the body would be about invalid fields, so this
 * module replaces the message. A status that the body repeats is replaced, too.
 */
import type { ApiContract, VendorError } from '#language/contract.ts';
import { type ApiAnswer, vendorAnswer } from './answer.ts';
import { fillBody, hasPlaceholders, type Wrong } from './fill-body.ts';

/** Names of members in which vendors put the error message. */
const messageNames = new Set(['message', 'msg', 'detail', 'description', 'error_description']);
/** Names of members in which vendors repeat the status. */
const statusNames = new Set(['status', 'code', 'status_code', 'statusCode']);

/**
 * Message and status to insert into a body. The status replaces the status `insteadOf`. `message` is null if the body
 * has placeholders for it.
 */
type Fault = { message: string | null; status: number; insteadOf: number };

const insertIntoMember = (name: string, value: unknown, fault: Fault): unknown => {
  if (fault.message !== null && typeof value === 'string' && messageNames.has(name)) {
    return fault.message;
  }
  if (statusNames.has(name) && String(value) === String(fault.insteadOf)) {
    return typeof value === 'string' ? String(fault.status) : fault.status;
  }
  return insertInto(value, fault);
};

const insertInto = (value: unknown, fault: Fault): unknown => {
  if (Array.isArray(value)) return value.map((item) => insertInto(item, fault));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, insertIntoMember(name, member, fault)]),
  );
};

/**
 * Returns the vendor's body with the fault's message and status inserted. A body that is not JSON is returned
 * unchanged.
 */
const insertIntoBody = (body: string, fault: Fault): string => {
  try {
    return JSON.stringify(insertInto(JSON.parse(body), fault));
  } catch {
    return body; // vendors may answer errors as text or XML
  }
};

/**
 * Error and problems to answer with. The defaults are the vendor's `invalid` error, and the reason as the only problem.
 */
type Words = { words?: VendorError; wrongs?: readonly Wrong[] };

/** Returns the answer for a fault; `reason` begins in lower case, like `the body is not JSON`. */
export const refusedRequest = (
  api: ApiContract,
  reason: string,
  status: number,
  { words = api.invalid, wrongs }: Words = {},
): ApiAnswer => {
  const message = `${reason.slice(0, 1).toUpperCase()}${reason.slice(1)}`;
  const hasPlaces = hasPlaceholders(words.body);
  const fault = { message: hasPlaces ? null : message, status, insteadOf: words.status };
  const filled = fillBody(
    words.body,
    api.errorContentType,
    wrongs ?? [{ param: null, field: null, message }],
  );
  return vendorAnswer(api, { status, body: insertIntoBody(filled, fault) }, reason);
};
