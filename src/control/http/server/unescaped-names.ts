/**
 * Accepts names whose slashes are not escaped in an address. Clients escape them (`folder%2Fname`), but older clients
 * and people send `folder/name`. Such an address is rewritten to the escaped one; names that are already escaped are
 * not changed.
 */

/**
 * Beginning of all addresses that can contain a name with unescaped slashes. For all other addresses, this test is the
 * only cost.
 */
const named = /^\/api\/public\/(?:v2\/(?:prompts|datasets)|datasets|context)\//;

/** Address patterns: the part before a name, the name, and the optional part after it. */
const forms = [
  /^(\/api\/public\/v2\/prompts\/)(.+?)(\/versions\/[^/]+)?$/,
  /^(\/api\/public\/v2\/datasets\/)(.+)()$/,
  /^(\/api\/public\/datasets\/)(.+?)(\/runs(?:\/.*)?)?$/,
  /^(\/api\/public\/datasets\/[^/]+\/runs\/)(.+?)(\/(?:sessions|stop))?$/,
  /^(\/api\/public\/context\/[^/]+\/)(.+)()$/,
];

/** Returns the address with the slashes in names escaped. */
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
