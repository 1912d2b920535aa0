import { expect, test } from 'vitest'
import { OwnerMatching, TooManySteps, parseCodeOwners } from './parsing.ts'

const owners = (text: string, path: string) =>
  new OwnerMatching(parseCodeOwners(text)).of(path).map(({ section, pattern }) => [section.name, ...pattern.owners])

test.each([
  ['*', 'a.txt', true],
  ['*', 'deep/down/a.txt', true],
  ['*', '.hidden/a', true],
  ['*.md', 'docs/a.md', true],
  ['*.md', 'docs/a.mdx', false],
  ['README.md', 'docs/README.md', true],
  ['/README.md', 'docs/README.md', false],
  ['/README.md', 'README.md', true],
  ['docs', 'docs/a.md', false],
  ['docs/', 'docs/a.md', true],
  ['docs/', 'lib/docs/deep/a.md', true],
  ['/docs/', 'lib/docs/a.md', false],
  ['/docs/', 'docs/deep/a.md', true],
  ['/docs/*', 'docs/a.md', true],
  ['/docs/*', 'docs/deep/a.md', false],
  ['/docs/**', 'docs/deep/a.md', true],
  ['/docs/**', 'docs', false],
  ['/docs/**/*.md', 'docs/a.md', true],
  ['/docs/**/*.md', 'docs/x/y/a.md', true],
  ['/docs/**/*.md', 'docs/x/y/a.txt', false],
  ['lib/*/x.ts', 'src/lib/a/x.ts', true],
  ['lib/*/x.ts', 'lib/a/b/x.ts', false],
  ['/a/**/b/**/c', 'a/1/b/b/2/c', true],
  ['/a/**/b/**/c', 'a/1/2/c', false],
  ['file?.ts', 'file1.ts', true],
  ['file?.ts', 'file12.ts', false],
  ['file[0-9].ts', 'file7.ts', true],
  ['file[!0-9].ts', 'file7.ts', false],
  ['[Docs', '[Docs', true],
  ['path\\ with\\ spaces/', 'path with spaces/a', true],
  ['\\#numbers', '#numbers', true],
  ['\\*', '*', true],
  ['\\*', 'a', false],
  ['*a*b*c*', 'xxaxxbxxcxx', true],
  ['*a*b*c*', 'xxaxxcxxbxx', false],
])('%s of %s: %s', (pattern, path, expected) => {
  expect(owners(`${pattern} @jane`, path)).toEqual(expected ? [['', '@jane']] : [])
})

test('the last match of each section counts, and who asks for more is heard', () => {
  const text = `
# everybody's
* @root # not @this
*.md @docs jane@example.com nonsense @
/secret/
[Database][2] @dba @acme/data
*.sql
/db/ @other
/db/open
!/db/generated/
^[Style] @style
*.css
[DATABASE]
*.dump @dumper
[empty]
`
  const sections = parseCodeOwners(text)
  expect(sections.map(({ name, optional, approvals }) => [name, optional, approvals])).toEqual([
    ['', false, 1],
    ['Database', false, 2],
    ['Style', true, 1],
  ])
  expect(owners(text, 'a.ts')).toEqual([['', '@root']])
  expect(owners(text, 'a.md')).toEqual([['', '@docs', 'jane@example.com']])
  expect(owners(text, 'secret/a.md')).toEqual([])
  expect(owners(text, 'x.sql')).toEqual([
    ['', '@root'],
    ['Database', '@dba', '@acme/data'],
  ])
  expect(owners(text, 'db/x.sql')).toEqual([
    ['', '@root'],
    ['Database', '@other'],
  ])
  expect(owners(text, 'db/generated/x.sql')).toEqual([['', '@root']])
  expect(owners(text, 'x.dump')).toEqual([
    ['', '@root'],
    ['Database', '@dumper'],
  ])
  expect(owners('[Later]\n*.x @a\n^[later]\n*.y @b', 'a.y')).toEqual([['Later', '@b']])
  expect(parseCodeOwners('^[later]\n*.y @b\n[Later]\n*.x @a')[0]).toMatchObject({ optional: false })
  expect(parseCodeOwners('[A][0]\n* @a\n[B][999999999]\n* @a').map(({ approvals }) => approvals)).toEqual([1, 100])
})

test('has an end, whatever it is made of', () => {
  expect(parseCodeOwners('a @b\n'.repeat(100_000))[0]!.patterns).toHaveLength(5000)
  expect(parseCodeOwners(`${'a'.repeat(2000)} @b`)).toEqual([])
  const cut = parseCodeOwners(`* @all\n${'# much\n'.repeat(40_000)}`.slice(0, 256 * 1024 - 9) + '\n* @b\n* @carol')
  expect(cut[0]!.patterns.map(({ owners }) => owners)).toEqual([['@all'], ['@b']])
  expect(parseCodeOwners(`a ${'@b '.repeat(10)}`)[0]!.patterns[0]!.owners).toEqual(['@b'])
  const hostile = new OwnerMatching(parseCodeOwners(`${'*?a'.repeat(80)}b @x\n`.repeat(250)))
  expect(() => {
    for (let n = 0; n < 1000; n++) hostile.of('a'.repeat(4000))
  }).toThrow(TooManySteps)
})
