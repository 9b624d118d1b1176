/**
 * The answer to a request that could not be read: a method that its path does not take, a body that is
 * none or too much. Clients of the vendor find it in the shape of `invalid`. Where that has placeholders they are
 * filled; else what it says is about fields, so its message is that of the fault. The status is, too, where a body
 * tells it.
 */
import type { ApiContract, VendorError } from '#language/contract.ts';
import { type ApiAnswer, vendorAnswer } from './answer.ts';
import { fillBody, hasPlaceholders, type Wrong } from './fill-body.ts';

/** Members by which vendors say in words what is wrong. */
const messageNames = new Set(['message', 'msg', 'detail', 'description', 'error_description']);
/** Members by which they repeat the status. */
const statusNames = new Set(['status', 'code', 'status_code', 'statusCode']);

/** `message` is null for a body that says it in its placeholders. */
type Fault = { message: string | null; status: number; insteadOf: number };

const retellMember = (name: string, value: unknown, fault: Fault): unknown => {
  if (fault.message !== null && typeof value === 'string' && messageNames.has(name)) {
    return fault.message;
  }
  if (statusNames.has(name) && String(value) === String(fault.insteadOf)) {
    return typeof value === 'string' ? String(fault.status) : fault.status;
  }
  return retell(value, fault);
};

const retell = (value: unknown, fault: Fault): unknown => {
  if (Array.isArray(value)) return value.map((item) => retell(item, fault));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, retellMember(name, member, fault)]),
  );
};

/** The vendor's body with the words of the fault; as it is where it is no JSON. */
const retellBody = (body: string, fault: Fault): string => {
  try {
    return JSON.stringify(retell(JSON.parse(body), fault));
  } catch {
    return body; // vendors may answer errors as text or XML
  }
};

/** In which words a request is refused; the vendor's `invalid`, and the reason alone, unless given. */
type Words = { words?: VendorError; wrongs?: readonly Wrong[] };

/** Returns the answer for a fault in words that begin like `the body is not JSON`. */
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
  return vendorAnswer(api, { status, body: retellBody(filled, fault) }, reason);
};
