/**
 * Names with slashes that stand in an address as they are. Clients escape them (`folder%2Fname`), but older ones, and
 * people, send `folder/name`; such an address is read as the escaped one. What is escaped is left as it is.
 */

/** How every address begins that can have such a name: most requests are for others, and cost one look. */
const named = /^\/api\/public\/(?:v2\/(?:prompts|datasets)|datasets|context)\//;

/** What stands before a name, the name, and what may follow it. */
const forms = [
  /^(\/api\/public\/v2\/prompts\/)(.+?)(\/versions\/[^/]+)?$/,
  /^(\/api\/public\/v2\/datasets\/)(.+)()$/,
  /^(\/api\/public\/datasets\/)(.+?)(\/runs(?:\/.*)?)?$/,
  /^(\/api\/public\/datasets\/[^/]+\/runs\/)(.+?)(\/(?:sessions|stop))?$/,
  /^(\/api\/public\/context\/[^/]+\/)(.+)()$/,
];

/** The address with the slashes of names escaped. */
export const escapeNames = (url: string): string => {
  if (!named.test(url)) return url;
  const [path = '', ...query] = url.split('?');
  const escaped = forms.reduce(
    (address, form) =>
      address.replace(form, (_, before: string, name: string, after = '') =>
        [before, name.replaceAll('/', '%2F'), after].join(''),
      ),
    path,
  );
  return escaped === path ? url : [escaped, ...query].join('?');
};
