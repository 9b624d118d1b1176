import {
  connector,
  describeRefusals,
  type Refusal,
  replace,
} from '#test/support/language-refusals.ts';

const rules: Refusal[] = [
  [
    'no directory',
    replace(connector, 'static = "web/board"\n', ''),
    'missing_key',
    connector,
    '/ui/static',
  ],
  [
    'a directory above the tree',
    replace(connector, '"web/board"', '"../web"'),
    'bad_ui_path',
    connector,
    '/ui/static',
  ],
  [
    'an absolute directory',
    replace(connector, '"web/board"', '"/web"'),
    'bad_ui_path',
    connector,
    '/ui/static',
  ],
  [
    'a directory that bundles leave out',
    replace(connector, '"web/board"', '"web/dist"'),
    'bad_ui_path',
    connector,
    '/ui/static',
  ],
  [
    'a hidden directory',
    replace(connector, '"web/board"', '".web"'),
    'bad_ui_path',
    connector,
    '/ui/static',
  ],
  [
    'a directory of rows',
    replace(connector, '"web/board"', '"data/page"'),
    'bad_ui_path',
    connector,
    '/ui/static',
  ],
  [
    'the whole tree',
    replace(connector, '"web/board"', '"."'),
    'bad_ui_path',
    connector,
    '/ui/static',
  ],
  [
    'a file',
    replace(connector, '"web/board"', '"README.md"'),
    'bad_ui_path',
    connector,
    '/ui/static',
  ],
  [
    'no page where one is written by hand',
    replace(connector, 'static = "web/board"', 'static = "web/board"\ngenerated = false'),
    'missing_file',
    connector,
    '/ui/static',
  ],
  [
    'an entry that is no path',
    replace(connector, 'static = "web/board"', 'static = "web/board"\nentry = "home"'),
    'bad_value',
    connector,
    '/ui/entry',
  ],
  [
    'the root as prefix of the API',
    replace(connector, '"/-/api"', '"/"'),
    'bad_value',
    connector,
    '/ui/api_path',
  ],
  [
    'a prefix that is no path',
    replace(connector, '"/-/api"', '"api"'),
    'bad_value',
    connector,
    '/ui/api_path',
  ],
];

describeRefusals('[ui]', rules);
