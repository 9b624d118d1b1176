/**
 * Values of `format` that are enforced, each by the grammar that JSON Schema 2020-12 names for it. Any other format is
 * an annotation, as the standard says. All tests run in linear time.
 *
 * A leap second is accepted whenever the clock shows 23:59:60 in UTC; it is not checked whether the day had one.
 */
const matching = (pattern: string, flags = ''): ((text: string) => boolean) => {
  const expression = new RegExp(`^(?:${pattern})$`, flags);
  return (text) => expression.test(text);
};

/** Date of RFC 3339, section 5.6. */
const fullDate = /^(\d{4})-(\d\d)-(\d\d)$/;
const fullTime = /^(\d\d):(\d\d):(\d\d)(?:\.\d+)?(?:z|([+-])(\d\d):(\d\d))$/i;
const daysOfMonths = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

const isLeapYear = (year: number): boolean =>
  year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);

const isDate = (text: string): boolean => {
  const found = fullDate.exec(text);
  if (found === null) return false;
  const [year, month, day] = [Number(found[1]), Number(found[2]), Number(found[3])];
  const days = (daysOfMonths[month - 1] ?? 0) + (month === 2 && isLeapYear(year) ? 1 : 0);
  return day >= 1 && day <= days;
};

const isTime = (text: string): boolean => {
  const found = fullTime.exec(text);
  if (found === null) return false;
  const [hour, minute, second] = [Number(found[1]), Number(found[2]), Number(found[3])];
  const [offsetHour, offsetMinute] = [Number(found[5] ?? 0), Number(found[6] ?? 0)];
  if (hour > 23 || minute > 59 || second > 60 || offsetHour > 23 || offsetMinute > 59) return false;
  if (second < 60) return true;
  const offset = (offsetHour * 60 + offsetMinute) * (found[4] === '-' ? -1 : 1);
  const dayMinutes = 24 * 60;
  return (hour * 60 + minute - offset + dayMinutes) % dayMinutes === dayMinutes - 1;
};

/** Fast path for usual date-times: day 01 to 28, no leap second, UTC. Texts that match need no further check. */
const plainDateTime =
  /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?Z$/;

const isDateTime = (text: string): boolean =>
  plainDateTime.test(text) ||
  (isDate(text.slice(0, 10)) && /^t$/i.test(text.charAt(10)) && isTime(text.slice(11)));

/** Time part of a duration, RFC 3339, appendix A: units follow one another without a gap. */
const timePart = String.raw`T(?:\d+H(?:\d+M(?:\d+S)?)?|\d+M(?:\d+S)?|\d+S)`;
const datePart = String.raw`(?:\d+D|\d+M(?:\d+D)?|\d+Y(?:\d+M(?:\d+D)?)?)`;
const duration = `P(?:${datePart}(?:${timePart})?|${timePart}|\\d+W)`;

/** Number from 0 to 255 in an IPv4 address, RFC 3986, appendix A. */
const octet = '(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)';
const ipv4 = `(?:${octet}\\.){3}${octet}`;
const h16 = '[0-9a-f]{1,4}';
const ls32 = `(?:${h16}:${h16}|${ipv4})`;
const ipv6 = `(?:${[
  `(?:${h16}:){6}${ls32}`,
  `::(?:${h16}:){5}${ls32}`,
  `(?:${h16})?::(?:${h16}:){4}${ls32}`,
  `(?:(?:${h16}:){0,1}${h16})?::(?:${h16}:){3}${ls32}`,
  `(?:(?:${h16}:){0,2}${h16})?::(?:${h16}:){2}${ls32}`,
  `(?:(?:${h16}:){0,3}${h16})?::${h16}:${ls32}`,
  `(?:(?:${h16}:){0,4}${h16})?::${ls32}`,
  `(?:(?:${h16}:){0,5}${h16})?::${h16}`,
  `(?:(?:${h16}:){0,6}${h16})?::`,
].join('|')})`;
const escaped = '%[0-9a-f]{2}';
const plain = "a-z0-9._~!$&'()*+,;=\\-";
const pchar = `(?:[${plain}:@]|${escaped})`;
const literal = `\\[(?:${ipv6}|v[0-9a-f]+\\.[${plain}:]+)\\]`;
const authority = `(?:(?:[${plain}:]|${escaped})*@)?(?:${literal}|(?:[${plain}]|${escaped})*)(?::\\d*)?`;
const rooted = `//${authority}(?:/${pchar}*)*|/(?:${pchar}+(?:/${pchar}*)*)?`;
const ending = `(?:\\?(?:${pchar}|[/?])*)?(?:#(?:${pchar}|[/?])*)?`;
const uri = `[a-z][a-z0-9+.-]*:(?:${rooted}|${pchar}+(?:/${pchar}*)*)?${ending}`;
const firstSegment = `(?:[${plain}@]|${escaped})+`;
const relativeUri = `(?:${rooted}|${firstSegment}(?:/${pchar}*)*)?${ending}`;

/** `Mailbox` of RFC 5321. Of addresses in brackets, only the two kinds that are in use are accepted. */
const atom = "[a-z0-9!#$%&'*+/=?^_`{|}~-]+";
const quoted = String.raw`"(?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\[\x20-\x7e])*"`;
const label = '[a-z0-9](?:[a-z0-9-]*[a-z0-9])?';
const shortLabel = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?';
const domain = `${label}(?:\\.${label})*`;
const email = `(?:${atom}(?:\\.${atom})*|${quoted})@(?:${domain}|\\[(?:${ipv4}|IPv6:${ipv6})\\])`;

/** Host name of RFC 1123, section 2.1. The meaning of a punycode label is not checked. */
const isLabels = matching(`${shortLabel}(?:\\.${shortLabel})*`, 'i');
const isHostname = (text: string): boolean => text.length <= 253 && isLabels(text);

export const assertedFormats: Readonly<Record<string, (text: string) => boolean>> = {
  'date-time': isDateTime,
  date: isDate,
  time: isTime,
  duration: matching(duration),
  email: matching(email, 'i'),
  hostname: isHostname,
  ipv4: matching(ipv4),
  ipv6: matching(ipv6, 'i'),
  uri: matching(uri, 'i'),
  'uri-reference': matching(`${uri}|${relativeUri}`, 'i'),
  uuid: matching('[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}', 'i'),
  'json-pointer': matching('(?:/(?:[^/~]|~[01])*)*'),
};
