import { describe, expect, it } from 'vitest';
import { cutToml } from './cut-toml.ts';

const routes = `\
# Of the whole file.

[api]
envelope = "data"

# The first route.
[[operations]]
name = "first" # not the last
[operations.api]
action = "create"

[[operations]]
name = "second"

[tools]
serve = ["a", "b", # the middle one
  "c"]
`;

describe('cutToml', () => {
  it('cuts an item of a list by its header, with its tables and the comment above it', () => {
    expect(cutToml(routes, ['operations', 0])).toBe(
      routes.replace(/# The first route[\s\S]*"create"\n\n/, ''),
    );
  });

  it('cuts a table, and leaves the comments of other tables', () => {
    expect(cutToml(routes, ['api'])).toBe(routes.replace('[api]\nenvelope = "data"\n\n', ''));
  });

  it.each([
    [0, 'serve = ["b", # the middle one\n  "c"]'],
    [1, 'serve = ["a", "c"]'],
    [2, 'serve = ["a", "b"]'],
  ])('cuts item %i of a list in brackets', (index, left) => {
    expect(cutToml(routes, ['tools', 'serve', index])).toBe(
      routes.replace(/serve = [\s\S]*\]/, left),
    );
  });

  it('cuts the only item of a list, with a comma after it', () => {
    expect(cutToml('serve = [ "a", ]\n', ['serve', 0])).toBe('serve = [  ]\n');
  });

  it('cuts an item that is an inline table', () => {
    const text = 'operations = [\n  { name = "a" },\n  { name = "b" },\n]\n';
    expect(cutToml(text, ['operations', 0])).toBe('operations = [\n  { name = "b" },\n]\n');
  });

  it('does not cut a table whose parts have other tables between them', () => {
    const text =
      '[webhooks]\nurl = "url"\n[api]\npage = "none"\n[webhooks.scope]\nrepo = "repos"\n';
    expect(cutToml(text, ['webhooks'])).toBeUndefined();
  });

  it('returns undefined for an unknown table', () => {
    expect(cutToml(routes, ['operations', 7])).toBeUndefined();
  });
});
