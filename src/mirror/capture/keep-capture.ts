/** Builds the file of one captured answer. It is redacted, and has only the headers that clients use. */
import type { Contract, RedactPolicy, Row, VendorOperation } from '#language/contract.ts';
import type { AnswerRedaction } from '../redact/redact-answer.ts';
import { requestPath } from './requests.ts';

/** Contents of a file in `captures/<operation>/`. */
export type CaptureFile = {
  operation: string;
  arguments: Row;
  status: number;
  headers: Record<string, string>;
  page?: number;
  last?: boolean;
  redacted?: Pick<RedactPolicy, 'hash' | 'drop' | 'preserve' | 'round'>;
  url: string;
  captured_at: string;
  request?: unknown;
  body: unknown;
};

/** An exchange with the vendor, as received. */
export type Captured = {
  operation: VendorOperation;
  arguments: Row;
  status: number;
  headers: Readonly<Record<string, string>>;
  page?: { number: number; isLast: boolean };
  at: string;
  request?: unknown;
  body: unknown;
};

const usualHeaders = [
  'content-type',
  'link',
  'location',
  'allow',
  'x-total-count',
  'x-total',
  'x-page',
  'x-per-page',
  'x-next-page',
];

/** Returns the names of the headers to keep, in lower case. */
export const keptHeaders = ({ vendor, api }: Contract): Set<string> => {
  const from = vendor?.capture.cursor?.from;
  const own = from !== undefined && 'header' in from ? [from.header] : [];
  const paging = Object.values(api?.paging.headers ?? {});
  return new Set([...usualHeaders, ...own, ...paging].map((name) => name.toLowerCase()));
};

const policyOf = ({ redact }: Contract): Pick<CaptureFile, 'redacted'> => {
  if (redact === null) return {};
  const { hash, drop, preserve, round } = redact;
  return { redacted: { hash, drop, preserve, round } };
};

/** Builds the file of an exchange. */
export const captureFileOf = (
  contract: Contract,
  redaction: AnswerRedaction,
  { operation, arguments: given, status, headers, page, at, request, body }: Captured,
): CaptureFile => {
  const kept = keptHeaders(contract);
  const keptArguments = redaction.arguments(operation, given);
  const keptRequest = request === undefined ? {} : { request: redaction.request(request) };
  const keptBody = redaction.body(operation, body);
  const { vendor } = contract;
  return {
    operation: operation.name,
    arguments: keptArguments,
    status,
    headers: Object.fromEntries(
      Object.entries(headers)
        .filter(([name]) => kept.has(name))
        .map(([name, value]) => [name, redaction.text(value)]),
    ),
    ...(page === undefined ? {} : { page: page.number, last: page.isLast }),
    ...policyOf(contract),
    url: redaction.text(`${vendor?.baseUrl ?? ''}${requestPath(operation, keptArguments)}`),
    captured_at: at,
    ...keptRequest,
    body: keptBody,
  };
};
