import { expect, it } from 'vitest';
import { textFile } from '#test/support/worlds/small-world.ts';
import { artifactCollisions } from './generate.ts';

const generated = ['db/schema.sql', 'schema/README.md', 'ui/app/index.html'].map((path) =>
  textFile(path, ''),
);

const messagesOf = (...paths: string[]): string[] =>
  artifactCollisions({ files: paths.map((path) => textFile(path, '')), generated }).map(
    ({ message }) => message,
  );

it('files next to generated ones, or at their paths, are accepted', () => {
  expect(messagesOf('db/schema.sql', 'db/notes.md', 'README.md', 'ui/app.html')).toEqual([]);
});

it('files are refused if some file system treats their path as that of a generated file', () => {
  expect(messagesOf('db/Schema.SQL', 'DB/schema.sql', 'schema/readme.md')).toEqual([
    'the path "db/Schema.SQL" differs from the generated file db/schema.sql only by case',
    'the path "DB/schema.sql" differs from the generated file db/schema.sql only by case',
    'the path "schema/readme.md" differs from the generated file schema/README.md only by case',
  ]);
});

it('files in the place of generated folders, and folders in the place of generated files, are refused', () => {
  expect(messagesOf('db', 'UI/App', 'db/schema.sql/notes.md')).toEqual([
    'the path "db" is a file, but must be the folder of the generated file db/schema.sql',
    'the path "UI/App" is a file, but must be the folder of the generated file ui/app/index.html',
    'the path "db/schema.sql/notes.md" lies below db/schema.sql, which is a generated file',
  ]);
});
